/** Of the inbox, beside what all pages have. States are told by words; colour only helps. */
export const INBOX_STYLE = `
body{max-width:64rem}
section{border-top:1px solid var(--line);margin-top:1.5rem}section h2{margin:1.25rem 0 .25rem}
h3{font-size:1rem;margin:1rem 0 .25rem}section p{margin:.4rem 0}
caption{text-align:left;padding-top:.25rem}td{overflow-wrap:anywhere}
pre{overflow:auto;max-height:26rem;padding:.75rem;border:1px solid var(--line);border-radius:.4rem;
font:.875rem/1.5 ui-monospace,monospace}
pre:focus-visible,summary:focus-visible{outline:2px solid var(--link);outline-offset:2px}
.answer{white-space:pre-wrap}
.badge{display:inline-block;white-space:nowrap;padding:0 .5rem;border-radius:.75rem;border:1px solid;font-size:.875rem}
.delivered,.enabled{color:light-dark(#0a6b2f,#7fd99b)}.pending{color:light-dark(#7a5200,#f0c674)}
.failed,.exhausted,.disabled{color:light-dark(#a8201a,#ff9d96)}.paused{color:var(--quiet)}
#status{position:sticky;top:0;margin:0;padding:.4rem 0;background:var(--ground);color:var(--quiet)}
`;
