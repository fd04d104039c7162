import { PAYOUT_ERRORS, STRUCTURED_ERRORS } from '@florin/contract/errors';
import type { PublicPage } from './platform/http/index.ts';

interface Explained {
  status: number;
  title: string;
  cause: string;
  advice: string;
}

const page = (code: string, error: Explained) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${code} – Florin</title>
<style>body{font:1rem/1.5 system-ui,sans-serif;max-width:40rem;margin:3rem auto;padding:0 1rem}</style>
<h1>${error.title}</h1>
<p><code>${code}</code>, HTTP ${error.status}</p>
<h2>Why it happens</h2>
<p>${error.cause}</p>
<h2>What to do</h2>
<p>${error.advice}</p>
</html>
`;

/** One page for each error code, where the `doc_url` of error answers leads. */
export function errorPages(): PublicPage[] {
  const all: Record<string, Explained> = { ...PAYOUT_ERRORS, ...STRUCTURED_ERRORS };
  return Object.entries(all).map(([code, error]) => ({
    path: `/docs/errors/${code}`,
    handle: async () => ({ status: 200, type: 'text/html; charset=utf-8', body: page(code, error) }),
  }));
}
