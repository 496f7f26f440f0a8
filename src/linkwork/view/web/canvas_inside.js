// Inside of viser's client. It connects again by itself only while its document has the focus, and then begins with an
// empty picture: the page around it brings a fresh canvas instead, behind the old one.
document.hasFocus = () => false;
// Shortcuts of its own open what cannot be seen here.
window.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey) event.stopImmediatePropagation();
}, true);
// What it tells its own developers is not for those who look into the console: there they find what is wrong, alone.
console.log = console.debug = () => {};
const warn = console.warn;
console.warn = (...words) => { if (!/has been deprecated|^\(OK\)/.test(words[0])) warn.apply(console, words); };
