/**
 * Style of every page that payers see. No rule names left or right, so Arabic mirrors it; no inline style, so that a
 * page's policy names this text by its hash and nothing else.
 */
export const PAYER_STYLE = `
:root{color-scheme:light dark;
--ground:light-dark(#eef1f5,#0d1014);--card:light-dark(#fff,#171b21);--ink:light-dark(#14181f,#eef1f6);
--quiet:light-dark(#566070,#a6b0bf);--line:light-dark(#dbe0e8,#2d343f);--field:light-dark(#f5f7fa,#1f252d);
--accent:light-dark(#0a58ca,#8bb8ff);--on-accent:light-dark(#fff,#07162c);--tint:light-dark(#e9f1ff,#16253d);
--good:light-dark(#0a6b3d,#62d296);--good-tint:light-dark(#e4f6ec,#11291d);
--warn:light-dark(#7a4b00,#f2c063);--warn-tint:light-dark(#fff4dc,#2e2410);
--bad:light-dark(#a3231f,#ff9c94);--bad-tint:light-dark(#fdebea,#331a18)}
*{box-sizing:border-box}[hidden]{display:none!important}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--ground);color:var(--ink);font:1rem/1.5 system-ui,-apple-system,"Segoe UI",sans-serif;
overflow-wrap:anywhere}
.sheet{max-width:28rem;margin:0 auto;padding:1rem 1rem 3rem}
.card{background:var(--card);border:1px solid var(--line);border-radius:1rem;padding:1.25rem}
.card+.card{margin-block-start:1rem}
.top{display:flex;gap:.75rem;align-items:center;padding:.25rem .25rem 1rem}
.mark{flex:none;inline-size:2.5rem;block-size:2.5rem;border-radius:.75rem;background:var(--accent);color:var(--on-accent);
display:grid;place-items:center;font-weight:700;font-size:1.1rem}
.store{font-weight:600;line-height:1.25}.quiet{color:var(--quiet)}.small{font-size:.875rem}
.test{background:var(--warn-tint);color:var(--warn);border-radius:.5rem;padding:.375rem .75rem;margin:0 0 1rem;
font-size:.875rem;font-weight:600;text-align:center}
h1{font-size:1.375rem;line-height:1.3;letter-spacing:-.01em;margin:0 0 .25rem}h2{font-size:1rem;margin:0 0 .5rem}
p{margin:0 0 .75rem}p:last-child{margin-block-end:0}p+form,dl+p{margin-block-start:1rem}
.subject{margin-block:.25rem 1rem}.subject p{margin:0}.leave{margin-block-start:1.25rem}
.price{font-size:2rem;font-weight:700;letter-spacing:-.02em;line-height:1.15;margin:0 0 .25rem}
a{color:var(--accent)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px;border-radius:.25rem}
fieldset{border:0;margin:0;padding:0;min-inline-size:0}legend{padding:0;font-weight:600;margin-block-end:.5rem}
.option{display:flex;gap:.75rem;align-items:center;border:1px solid var(--line);border-radius:.75rem;padding:.75rem;
margin-block-end:.5rem;cursor:pointer}
.option:has(:checked){border-color:var(--accent);background:var(--tint);box-shadow:inset 0 0 0 1px var(--accent)}
.option:has(:focus-visible){outline:3px solid var(--accent);outline-offset:2px}
.option input{flex:none;inline-size:1.25rem;block-size:1.25rem;margin:0;accent-color:var(--accent)}
.option input:focus-visible{outline:0}.option span{display:block}.option b{font-weight:600}
button,.button{display:block;inline-size:100%;font:inherit;font-weight:600;text-align:center;text-decoration:none;
border:1px solid transparent;border-radius:.75rem;padding:.75rem 1rem;background:var(--accent);color:var(--on-accent);
cursor:pointer;min-block-size:2.75rem}
button:hover,.button:hover{filter:brightness(1.08)}button[disabled]{opacity:.6;cursor:default}
.plain{background:none;color:var(--accent);border-color:var(--line)}
.field{border:1px solid var(--line);background:var(--field);border-radius:.75rem;padding:.625rem .75rem;
margin-block-end:.75rem;display:grid;grid-template-columns:1fr auto;gap:.125rem .75rem;align-items:center}
.field dt,.field .name{grid-column:1;font-size:.8125rem;color:var(--quiet)}
.field dd,.field .value{grid-column:1;margin:0;font-weight:600}
.field .value{justify-self:start}
.field .address{font-family:ui-monospace,"SF Mono",Menlo,Consolas,monospace;font-size:.9rem;font-weight:500;
line-height:1.4;word-break:break-all;user-select:all}
.field button{grid-column:2;grid-row:1/span 2;inline-size:auto;min-block-size:2.5rem;padding:.375rem .875rem;
font-size:.875rem;background:var(--card);color:var(--accent);border-color:var(--line)}
.field button.done{color:var(--good);border-color:var(--good)}
.qr{display:block;inline-size:min(100%,13rem);margin:0 auto .75rem;background:#fff;border-radius:.75rem;padding:.25rem}
.qr svg{display:block;inline-size:100%;block-size:auto}
.center{text-align:center}div.center{margin-block-end:1rem}.gap{margin-block-end:.75rem}
.dot{display:inline-block;inline-size:.5rem;block-size:.5rem;border-radius:50%;background:var(--accent);
margin-inline-end:.5rem;vertical-align:.06em}
.note{border-radius:.75rem;padding:.75rem;margin-block-end:.75rem;background:var(--tint);font-size:.9375rem}
.note b{display:block}
.note.warn{background:var(--warn-tint)}.note.warn b{color:var(--warn)}
.note.bad{background:var(--bad-tint)}.note.bad b{color:var(--bad)}
.note.good{background:var(--good-tint)}.note.good b{color:var(--good)}
.sign{inline-size:3.5rem;block-size:3.5rem;border-radius:50%;display:grid;place-items:center;margin:.25rem auto .75rem;
background:var(--tint);color:var(--accent)}
.sign svg{inline-size:1.75rem;block-size:1.75rem;fill:none;stroke:currentColor;stroke-width:2.5;stroke-linecap:round;
stroke-linejoin:round}
.sign.good{background:var(--good-tint);color:var(--good)}.sign.warn{background:var(--warn-tint);color:var(--warn)}
.sign.bad{background:var(--bad-tint);color:var(--bad)}
.rows{margin:0 0 1rem;border-block-start:1px solid var(--line)}
.rows div{display:flex;justify-content:space-between;gap:1rem;padding:.5rem 0;border-block-end:1px solid var(--line)}
.rows dt{color:var(--quiet);flex:none}.rows dd{margin:0;text-align:end;min-inline-size:0;font-weight:500}
.rows .id{font-family:ui-monospace,"SF Mono",Menlo,Consolas,monospace;font-size:.8125rem;font-weight:400}
progress{inline-size:100%;block-size:.5rem;border:0;border-radius:1rem;overflow:hidden;accent-color:var(--accent);
background:var(--line);appearance:none}
progress::-webkit-progress-bar{background:var(--line)}progress::-webkit-progress-value{background:var(--accent)}
progress::-moz-progress-bar{background:var(--accent)}
label.text{display:block;font-weight:600;margin-block-end:.25rem}
input[type=text],input[type=email]{font:inherit;inline-size:100%;padding:.625rem .75rem;border:1px solid var(--quiet);
border-radius:.75rem;background:var(--field);color:inherit;margin-block-end:.75rem;min-block-size:2.75rem}
.error{color:var(--bad);font-weight:600}
.panel{border-style:dashed}.panel .grid{display:grid;grid-template-columns:1fr 1fr;gap:.5rem}
.panel button{font-size:.875rem;padding:.5rem;min-block-size:2.5rem}
details summary{cursor:pointer;color:var(--accent);font-weight:600}details[open] summary{margin-block-end:.5rem}
.foot{text-align:center;padding:1.25rem 0 0;font-size:.875rem;color:var(--quiet)}
.foot a{display:inline-block;padding:.25rem .5rem;color:var(--quiet)}
.foot [aria-current]{color:var(--ink);font-weight:600;text-decoration:none}
.unseen{position:absolute;inline-size:1px;block-size:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
@media(prefers-reduced-motion:no-preference){.pulse{animation:pulse 1.6s ease-in-out infinite}
@keyframes pulse{50%{opacity:.45}}}
@media(min-width:30rem){.sheet{padding-block-start:2.5rem}.card{padding:1.75rem}}
@media print{.foot,.panel,button{display:none}body{background:#fff}.card{border:0}}
`;
