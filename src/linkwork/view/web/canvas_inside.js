// Inside of viser's client. It connects again by itself only while its document has the focus, and then begins with an
// empty picture: the page around it brings a fresh canvas instead, behind the old one.
document.hasFocus = () => false;
// Shortcuts of its own open what cannot be seen here.
window.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey) event.stopImmediatePropagation();
}, true);
