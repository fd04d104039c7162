import { createHash } from 'node:crypto';
import type { PageAnswer } from './page.ts';

const STYLE = `
:root{color-scheme:light dark;--ink:light-dark(#1b1b1f,#ececf1);--quiet:light-dark(#55555e,#b4b4be);
--ground:light-dark(#fff,#131316);--line:light-dark(#d9d9df,#3a3a42);--link:light-dark(#0b57c2,#8ab8ff)}
body{font:1rem/1.55 system-ui,sans-serif;max-width:44rem;margin:0 auto;padding:2.5rem 1rem 4rem;
color:var(--ink);background:var(--ground);overflow-wrap:break-word}
a{color:var(--link)}a:focus-visible{outline:2px solid;outline-offset:2px}
nav{margin-bottom:2rem}h1{line-height:1.2}h2{font-size:1.15rem;margin-top:2rem}.quiet{color:var(--quiet)}
code{font-family:ui-monospace,monospace;font-size:.95em}
table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.5rem .75rem .5rem 0;
border-bottom:1px solid var(--line)}
`;

/** Headers of every page of ours: nothing foreign, no frame, no address given away. */
export function pageHeaders(policy: Readonly<Record<string, string>>): Record<string, string> {
  const rules = { 'default-src': "'none'", 'form-action': "'none'", ...policy, 'base-uri': "'none'" };
  return {
    'content-security-policy': [...Object.entries(rules), ['frame-ancestors', "'none'"]]
      .map((rule) => rule.join(' '))
      .join('; '),
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  };
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

export interface HtmlPage {
  title: string;
  /** HTML. */
  body: string;
  /** HTML before the body's `main`. */
  nav?: string;
  /** Rules beside those that all pages have. */
  style?: string;
  /** Path of the page's script: it may ask its own origin. */
  script?: string;
}

/** A page readable in light and dark. No script runs but the one that is named. */
export function htmlPage({ title, body, nav = '', style = '', script }: HtmlPage): PageAnswer {
  const css = STYLE + style;
  const styleHash = createHash('sha256').update(css).digest('base64');
  const scripts = script === undefined ? {} : { 'script-src': "'self'", 'connect-src': "'self'" };
  return {
    status: 200,
    type: 'text/html; charset=utf-8',
    headers: pageHeaders({ 'style-src': `'sha256-${styleHash}'`, 'img-src': 'data:', ...scripts }),
    body: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} – Florin</title>
<link rel="icon" href="data:,">
<style>${css}</style>
${script === undefined ? '' : `<script src="${script}" defer></script>\n`}</head>
<body>
${nav}
<main>
${body}
</main>
</body>
</html>
`,
  };
}
