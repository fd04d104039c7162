import {
  type Explanation,
  PAYOUT_ERRORS,
  PERMISSION_DENIED,
  STRUCTURED_ERRORS,
} from '@florin/contract/errors';
import { escapeHtml, htmlPage, type PublicPage } from '../platform/http/index.ts';

interface Explained extends Explanation {
  status: number;
}

const NAV =
  '<nav aria-label="Documentation"><a href="/docs">API reference</a> · <a href="/docs/errors">Error codes</a></nav>';

/** All error codes. A code means the same in both error formats; `forbidden` (403) exists in the payout format only. */
const ERRORS: Record<string, Explained> = {
  ...PAYOUT_ERRORS,
  ...STRUCTURED_ERRORS,
  forbidden: PERMISSION_DENIED,
};

/** A page for each error code, which `doc_url` of error answers points to, and a list of all. */
export function errorPages(): PublicPage[] {
  const pages = Object.entries(ERRORS).map(([code, error]) => {
    const answer = htmlPage({ title: error.title, nav: NAV, body: explain(code, error) });
    return { path: `/docs/errors/${code}`, handle: async () => answer };
  });
  const index = htmlPage({ title: 'Error codes', nav: NAV, body: list() });
  return [{ path: '/docs/errors', handle: async () => index }, ...pages];
}

function explain(code: string, error: Explained): string {
  return `<h1>${escapeHtml(error.title)}</h1>
<p class="quiet"><code>${code}</code>, HTTP ${error.status}</p>
<h2>Why it happens</h2>
<p>${escapeHtml(error.cause)}</p>
<h2>What to do</h2>
<p>${escapeHtml(error.advice)}</p>`;
}

function list(): string {
  const rows = Object.entries(ERRORS)
    .sort(([a, { status: statusA }], [b, { status: statusB }]) => statusA - statusB || a.localeCompare(b))
    .map(
      ([code, { status, title }]) =>
        `<tr><td>${status}</td><td><a href="/docs/errors/${code}"><code>${code}</code></a></td><td>${escapeHtml(title)}</td></tr>`,
    );
  return `<h1>Error codes</h1>
<p>Payout calls answer with <code>errorCode</code>, all others with <code>error.code</code>.</p>
<table>
<thead><tr><th scope="col">HTTP</th><th scope="col">Code</th><th scope="col">Meaning</th></tr></thead>
<tbody>
${rows.join('\n')}
</tbody>
</table>`;
}
