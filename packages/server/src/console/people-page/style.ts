/**
 * The looks of the console, whose library is not loaded here: its fonts, radii and shades, with the primary colour of its
 * theme. Borders of fields are darker than there, so that they can be told from the card.
 */
export const STYLE = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#f8f9fa, #1a1a1a);
  --card: light-dark(#fff, #242424);
  --ink: light-dark(#000, #d9d9d9);
  --quiet: light-dark(#3f4856, #c3ccd8);
  --line: light-dark(#dee2e6, #424242);
  --edge: light-dark(#868e96, #828282);
  --field: light-dark(#fff, #2e2e2e);
  --hover: light-dark(#f1f3f5, #3b3b3b);
  --primary: #1971c2;
  --primary-hover: #1864ab;
  --accent: light-dark(#1971c2, #74c0fc);
  --tint: light-dark(#e7f5ff, #17293a);
  --good: light-dark(#0a6b3d, #62d296);
  --good-tint: light-dark(#e4f6ec, #11291d);
  --warn-line: light-dark(#e0a63a, #7a5c22);
  --warn-tint: light-dark(#fff4dc, #2e2410);
  --bad: light-dark(#a3231f, #ff9c94);
  --bad-tint: light-dark(#fdebea, #331a18);
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0; min-height: 100vh; min-height: 100dvh; padding: 1.5rem 1rem; display: flex; flex-direction: column;
  align-items: center; background: var(--ground); color: var(--ink); overflow-wrap: anywhere;
  font: 1rem/1.55 -apple-system, BlinkMacSystemFont, "Segoe UI", Roboto, Helvetica, Arial, sans-serif;
}
.brand {
  display: flex; align-items: center; gap: 0.5rem; margin: auto 0 1.25rem; font-size: 1.125rem; font-weight: 600;
}
.mark {
  display: grid; place-items: center; width: 2rem; height: 2rem; border-radius: 0.5rem;
  background: var(--primary); color: #fff; font-weight: 700;
}
main {
  width: 100%; max-width: 26rem; margin: 0 0 auto; padding: 2rem; background: var(--card);
  border: 1px solid var(--line); border-radius: 0.75rem; box-shadow: 0 1px 3px rgb(0 0 0 / 0.05);
}
main:has(#account:not([hidden])) { max-width: 36rem; }
h1 { margin: 0; font-size: 1.5rem; line-height: 1.3; text-wrap: balance; }
h1:focus, h2:focus { outline: 0; }
h2 { margin: 0; font-size: 1.0625rem; line-height: 1.4; }
p { margin: 0.5rem 0 0; }
a { color: var(--accent); }
.quiet, .hint { color: var(--quiet); }
.hint:empty { display: none; }
#no-passkeys { margin-top: 0.75rem; }
.hint { margin: 0.25rem 0 0; font-size: 0.875rem; line-height: 1.45; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.field { margin-top: 1.25rem; }
label { display: block; margin-bottom: 0.25rem; font-size: 0.875rem; font-weight: 500; }
input {
  width: 100%; min-height: 2.75rem; padding: 0 0.75rem; font: inherit; color: inherit; background: var(--field);
  border: 1px solid var(--edge); border-radius: 0.5rem;
}
input:focus-visible { outline-offset: -1px; border-color: var(--accent); }
input:read-only { background: var(--ground); border-color: var(--line); }
[aria-invalid] { border-color: var(--bad); }
[aria-invalid]:focus-visible { outline-color: var(--bad); border-color: var(--bad); }
.finding { display: block; margin-top: 0.25rem; font-size: 0.875rem; font-weight: 500; color: var(--bad); }
button, .button {
  display: flex; align-items: center; justify-content: center; width: 100%; min-height: 2.75rem; padding: 0.5rem 1rem;
  font: inherit; font-weight: 600; line-height: 1.4; text-align: center; text-decoration: none; color: inherit; background: var(--card); border: 1px solid var(--edge);
  border-radius: 0.5rem; cursor: pointer;
}
button:hover, .button:hover { background: var(--hover); }
.primary, .primary:hover { color: #fff; background: var(--primary); border-color: var(--primary); }
.primary:hover { background: var(--primary-hover); border-color: var(--primary-hover); }
.subtle { border-color: transparent; color: var(--accent); background: none; }
.step { margin-top: 1.25rem; font-size: 1rem; }
[aria-busy="true"] button { cursor: progress; }
form > button, section > button, #open, #gone .button, #retry { margin-top: 1.25rem; }
form > button + button, .or + button, form + button.subtle { margin-top: 0.75rem; }
.or { display: flex; align-items: center; gap: 0.75rem; margin: 1rem 0 0; font-size: 0.875rem; color: var(--quiet); }
.or::before, .or::after { content: ""; flex: 1; border-top: 1px solid var(--line); }
.row { display: flex; flex-wrap: wrap; gap: 0.75rem; margin-top: 1rem; }
.row > * { flex: 1 1 8rem; }
[role="status"]:not(:empty) {
  margin: 1rem 0 0; padding: 0.75rem 1rem; border: 1px solid var(--accent); border-radius: 0.5rem; background: var(--tint);
}
[role="status"]:empty { margin: 0; }
[role="status"][data-tone="good"]:not(:empty) { border-color: var(--good); background: var(--good-tint); }
[role="status"][data-tone="bad"]:not(:empty) { border-color: var(--bad); background: var(--bad-tint); }
.part { margin-top: 1.75rem; padding-top: 1.5rem; border-top: 1px solid var(--line); }
.part.urgent {
  padding: 1.25rem; border: 1px solid var(--warn-line); border-radius: 0.5rem; background: var(--warn-tint);
}
.urgent .or, .urgent .hint { color: var(--ink); }
.urgent .or::before, .urgent .or::after { border-color: var(--warn-line); }
ul { margin: 0.75rem 0 0; padding: 0; list-style: none; }
li { display: flex; align-items: center; gap: 1rem; padding: 0.625rem 0; border-top: 1px solid var(--line); }
li:first-child { border-top: 0; }
.what { flex: 1; min-width: 0; }
.what small { display: block; font-size: 0.875rem; color: var(--quiet); }
.tag {
  display: inline-block; margin-left: 0.5rem; padding: 0 0.5rem; border-radius: 0.5rem; font-size: 0.8125rem;
  color: var(--good); background: var(--good-tint); white-space: nowrap;
}
li button { flex: none; width: auto; min-height: 2.25rem; padding: 0.25rem 0.75rem; font-size: 0.875rem; }
summary { cursor: pointer; }
summary h2 { display: inline; }
img { display: block; width: 12rem; height: 12rem; margin: 1rem auto; padding: 0.5rem; border-radius: 0.5rem; background: #fff; }
code, pre { font: 0.9375rem/1.7 ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
pre { margin: 0.75rem 0 0; columns: 13rem; column-gap: 1.5rem; white-space: pre-wrap; }
.foot { display: flex; flex-wrap: wrap; gap: 0.75rem 1.5rem; align-items: center; justify-content: space-between; }
.foot button { width: auto; }
dialog {
  width: calc(100% - 2rem); max-width: 26rem; padding: 1.5rem; color: inherit; background: var(--card);
  border: 1px solid var(--line); border-radius: 0.75rem;
}
dialog::backdrop { background: rgb(0 0 0 / 0.6); }
@media (max-width: 30rem) {
  body { padding: 1rem 0.75rem; }
  main { padding: 1.5rem 1.25rem; }
}
`;
