"""What is wrong with a description is told with its line; nothing is read from elsewhere, nothing grows."""

import os
import socket
import time

import pytest
import trimesh

from helpers.opened import opened_in
from linkwork import LinkworkError, ModelError, import_model

I = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
TWO = f'<link name="a">{I}</link>\n<link name="b">{I}</link>\n'
ENDS = '<parent link="a"/><child link="b"/>'


def mesh(name):
    return f'<link name="a"><visual><geometry>\n<mesh filename="{name}"/></geometry></visual></link>'


def weight(mass='<mass value="1"/>', inertia='<inertia ixx="1" iyy="1" izz="1"/>'):
    return f'<link name="a"><inertial>\n{mass}{inertia}</inertial></link>'


# Of each: what stands inside <robot> from line 2 on, the line of the error, what it says.
CASES = {
    "no_links": ("", 1, "has no links"),
    "macros": ('<xacro:macro name="m"/>', 1, "read the output of xacro"),
    "link_without_name": ("<link/>", 2, "is required"),
    "two_links_of_a_name": ('<link name="a"/>\n<link name="a"/>', 3, "already one of that name in line 2"),
    "joint_without_name": (TWO + f'<joint type="fixed">{ENDS}</joint>', 4, "is required"),
    "joint_without_type": (TWO + f'<joint name="j">{ENDS}</joint>', 4, "is required"),
    "joint_of_unknown_type": (TWO + f'<joint name="j" type="revolut">{ENDS}</joint>', 4, "mean 'revolute'"),
    "joint_without_parent": (
        TWO + '<joint name="j" type="fixed"><child link="b"/></joint>',
        4,
        "needs a parent",
    ),
    "joint_without_child": (
        TWO + '<joint name="j" type="fixed"><parent link="b"/></joint>',
        4,
        "needs a child",
    ),
    "unknown_parent": (
        '<link name="arm"/>\n<joint name="j" type="fixed">\n<parent link="arn"/><child link="arm"/></joint>',
        4,
        "there is no link 'arn' (did you mean 'arm'?)",
    ),
    "two_parents": (
        TWO + f'<link name="c"/><joint name="j" type="fixed">{ENDS}</joint>\n'
        '<joint name="k" type="fixed"><parent link="c"/><child link="b"/></joint>',
        5,
        "links form a tree",
    ),
    "two_roots": (TWO, 3, "is held by no joint"),
    "cycle": (
        TWO + f'<joint name="j" type="fixed">{ENDS}</joint>\n'
        '<joint name="k" type="fixed"><parent link="b"/><child link="a"/></joint>',
        1,
        "a cycle, a > b > a",
    ),
    "cycle_beside_a_root": (
        (
            f'<link name="root"/>\n{TWO}<joint name="j" type="fixed">{ENDS}</joint>\n'
            '<joint name="k" type="fixed"><parent link="b"/><child link="a"/></joint>'
        ),
        3,
        "which the root does not hold",
    ),
    "itself": (
        '<link name="a"/>\n<joint name="j" type="fixed"><parent link="a"/><child link="a"/></joint>',
        1,
        "a cycle, a > a",
    ),
    "axis_of_nothing": (
        TWO + f'<joint name="j" type="continuous">{ENDS}\n<axis xyz="0 0 0"/></joint>',
        5,
        "zero vector",
    ),
    "axis_of_two": (
        TWO + f'<joint name="j" type="continuous">{ENDS}\n<axis xyz="0 1"/></joint>',
        5,
        "three numbers",
    ),
    "no_limit": (TWO + f'<joint name="j" type="revolute">{ENDS}</joint>', 4, "needs a <limit>"),
    "crossed_limits": (
        TWO + f'<joint name="j" type="revolute">{ENDS}\n<limit lower="2" upper="1"/></joint>',
        5,
        "above the upper 1",
    ),
    "limit_of_words": (
        TWO + f'<joint name="j" type="revolute">{ENDS}\n<limit lower="a" upper="1"/></joint>',
        5,
        "'a' is not a number",
    ),
    "negative_damping": (
        TWO + f'<joint name="j" type="continuous">{ENDS}\n<dynamics damping="-1"/></joint>',
        5,
        "must not be negative",
    ),
    "mimic_of_nobody": (
        TWO + f'<joint name="j" type="continuous">{ENDS}\n<mimic joint="k"/></joint>',
        5,
        "there is no joint 'k'",
    ),
    "mimic_of_itself": (
        TWO + f'<joint name="j" type="continuous">{ENDS}\n<mimic joint="j"/></joint>',
        5,
        "follows itself",
    ),
    "mimic_without_way": (
        TWO + f'<joint name="j" type="continuous">{ENDS}\n<mimic joint="j" multiplier="0"/></joint>',
        5,
        "must not be zero",
    ),
    "nan_origin": (
        TWO + f'<joint name="j" type="fixed">{ENDS}\n<origin xyz="0 nan 0"/></joint>',
        5,
        "finite number",
    ),
    "infinite_origin": (
        TWO + f'<joint name="j" type="fixed">{ENDS}\n<origin rpy="0 1e999 0"/></joint>',
        5,
        "finite number",
    ),
    "formula": (
        TWO + f'<joint name="j" type="fixed">{ENDS}\n<origin xyz="0 ${{pi}} 0"/></joint>',
        5,
        "formula of xacro",
    ),
    "underscores": (
        TWO + f'<joint name="j" type="fixed">{ENDS}\n<origin xyz="0 1_0 0"/></joint>',
        5,
        "finite number",
    ),
    "no_mass": (weight(mass=""), 2, "needs a mass"),
    "no_inertia": (weight(inertia=""), 2, "needs an inertia"),
    "negative_mass": (weight(mass='<mass value="-1"/>'), 3, "must not be negative"),
    "nan_mass": (weight(mass='<mass value="nan"/>'), 3, "finite number"),
    "mass_of_two": (weight(mass='<mass value="1 2"/>'), 3, "one number"),
    "negative_inertia": (weight(inertia='<inertia ixx="-1" iyy="1" izz="1"/>'), 2, "is not positive"),
    "indefinite_inertia": (
        weight(inertia='<inertia ixx="1" iyy="1" izz="1" ixy="2"/>'),
        2,
        "is not positive",
    ),
    "no_geometry": ('<link name="a">\n<visual/></link>', 3, "needs a geometry"),
    "empty_geometry": ('<link name="a">\n<visual><geometry/></visual></link>', 3, "needs a geometry"),
    "unknown_shape": (
        '<link name="a"><visual><geometry>\n<cone/></geometry></visual></link>',
        3,
        "'cone' is no shape",
    ),
    "negative_radius": (
        '<link name="a"><visual><geometry>\n<sphere radius="-1"/></geometry></visual></link>',
        3,
        "greater than 0",
    ),
    "cylinder_without_length": (
        '<link name="a"><visual><geometry>\n<cylinder radius="1"/></geometry></visual></link>',
        3,
        "is required",
    ),
    "flat_mesh": (
        '<link name="a"><visual><geometry>\n<mesh filename="m.stl" scale="1 0 1"/></geometry></visual></link>',
        3,
        "not be zero",
    ),
    "colour_of_words": (
        (
            '<link name="a"><visual><geometry><box size="1 1 1"/></geometry>\n'
            '<material name="m"><color rgba="red"/></material></visual></link>'
        ),
        3,
        "four numbers",
    ),
    "mesh_without_name": (mesh(""), 3, "is required"),
    "missing_mesh": (mesh("none.stl"), 3, "there is no file 'none.stl'"),
    "mesh_elsewhere": (mesh("../secret.stl"), 3, "leads outside"),
    "mesh_far_away": (mesh("/etc/hostname.stl"), 3, "leads outside"),
    "mesh_by_address": (mesh("file:///etc/hostname.stl"), 3, "leads outside"),
    "mesh_by_link": (mesh("link.stl"), 3, "leads outside"),
    "mesh_of_the_net": (mesh("http://127.0.0.1/part.stl"), 3, "nothing is fetched"),
    "mesh_of_a_share": (mesh("smb://host/part.stl"), 3, "nothing is fetched"),
    "unknown_package": (mesh("package://nothing/part.stl"), 3, "the package 'nothing' is not found"),
    "hidden_package": (mesh("package://.ssh/key.stl"), 3, "names no package"),
    "package_above": (mesh("package://../secret.stl"), 3, "names no package"),
    "out_of_its_package": (mesh("package://home/../secret.stl"), 3, "leads outside"),
    "extension_of_nobody": (
        '<link name="a"/>\n<linkwork>\n<hinge name="h" a="a" b="c" at="[0, 0, 0]"/></linkwork>',
        4,
        "there is no body 'c'",
    ),
    "extension_unknown": (
        '<link name="a"/>\n<linkwork>\n<hing name="h"/></linkwork>',
        4,
        "'hing' is no item",
    ),
    "extension_of_words": (
        '<link name="a"/>\n<linkwork>\n<hinge name="h" a="a" b="ground" at="[0, x, 0]"/></linkwork>',
        4,
        "must be a number",
    ),
    "extension_sets_nothing": (
        '<link name="a"/>\n<linkwork>\n<set shelf="joints" name="j"/></linkwork>',
        4,
        "there is no 'j'",
    ),
}


@pytest.fixture
def folder(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    for place in (tmp_path / "secret.stl", home / "m.stl"):
        trimesh.creation.box().export(place)
    os.symlink(tmp_path / "secret.stl", home / "link.stl")
    return home


@pytest.mark.parametrize("case", CASES)
def test_errors_tell_the_line_and_nothing_is_read_elsewhere(case, folder, monkeypatch):
    inside, line, what = CASES[case]
    file = folder / "r.urdf"
    file.write_text(f'<robot name="r">\n{inside}</robot>')
    opened = []
    monkeypatch.setattr(socket, "socket", lambda *args, **kwargs: pytest.fail("it reaches for the network"))
    monkeypatch.setattr(trimesh, "load_mesh", lambda name, **kwargs: opened.append(name))
    with opened_in(folder.parent) as elsewhere, pytest.raises(ModelError) as caught:
        import_model(file)
    assert elsewhere == []
    assert [(one.file, one.line) for one in caught.value.problems if what in one.what] == [(file, line)], (
        caught.value
    )
    assert not opened


TEXTS = {
    "empty": (b"", "no element found"),
    "no_xml": (b"hello", "is not XML"),
    "cut_short": (b"<robot><link", "is not XML"),
    "not_closed": (b"<robot>\n<link name='a'></robot>", "mismatched tag"),
    "bytes": (bytes(range(256)), "is not XML"),
    "encoding": (b'<?xml version="1.0" encoding="no-such"?><robot/>', "is not XML"),
    "bomb": (
        b'<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><robot name="&b;"/>',
        "document type",
    ),
    "file_entity": (
        b'<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/hostname">]><robot>&a;</robot>',
        "document type",
    ),
    "outer_type": (b'<!DOCTYPE r SYSTEM "http://127.0.0.1/r.dtd"><robot/>', "document type"),
    "unknown_entity": (b"<robot>&a;</robot>", "undefined entity"),
    "deep": (b"<robot>" + b"<a>" * 1000, "nested deeper than 500"),
    "mjcf": (b"<mujoco/>", "it is MJCF"),
    "sdf": (b"<sdf/>", "SDF is not read"),
    "html": (b"<html/>", "its root must be <robot>"),
}


@pytest.mark.parametrize("case", TEXTS)
def test_what_is_no_description_is_refused(case, tmp_path):
    content, what = TEXTS[case]
    file = tmp_path / "r.urdf"
    file.write_bytes(content)
    with pytest.raises(ModelError, match=what) as caught:
        import_model(file)
    assert caught.value.problems[0].file == file


def test_a_file_that_is_not_there_or_huge(tmp_path):
    with pytest.raises(ModelError, match="No such file"):
        import_model(tmp_path / "r.urdf")
    with pytest.raises(LinkworkError, match="there is no folder"):
        import_model(tmp_path / "r.urdf", search=[tmp_path / "none"])
    with pytest.raises(ModelError, match="cannot be read"):
        import_model(tmp_path / "r.urdf" / "\0.urdf")
    file = tmp_path / "huge.urdf"
    with file.open("wb") as stream:
        stream.truncate(60_000_000)
    with pytest.raises(ModelError, match="larger than 50 MB"):
        import_model(file)


def test_a_long_chain_is_read_in_a_moment(tmp_path):
    links = "".join(f'<link name="l{i}"/>' for i in range(3000))
    joints = "".join(
        f'<joint name="j{i}" type="fixed"><parent link="l{i}"/><child link="l{i + 1}"/></joint>'
        for i in range(2999)
    )
    file = tmp_path / "r.urdf"
    file.write_text(f"<robot>{links}{joints}</robot>")
    before = time.process_time()
    assert len(import_model(file).model.markers) == 2999
    assert time.process_time() - before < 20.0  # the square of its length would take minutes


def test_all_problems_are_told_at_once(tmp_path):
    file = tmp_path / "r.urdf"
    file.write_text(f'<robot>\n{mesh("no.stl")}\n'
                    '<link name="b"><visual><geometry><sphere radius="x"/></geometry></visual></link>\n'
                    '<joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint></robot>')  # fmt: skip
    with pytest.raises(ModelError) as caught:
        import_model(file)
    assert [problem.line for problem in caught.value.problems] == [3, 4]
