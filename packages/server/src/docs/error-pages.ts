import {
  type Explanation,
  PAYOUT_ERRORS,
  PERMISSION_DENIED,
  STRUCTURED_ERRORS,
} from '@florin/contract/errors';
import { type PageView, renderPage } from '@florin/pages';
import { htmlAnswer, type PublicPage } from '../platform/http/pages/index.ts';

interface Explained extends Explanation {
  status: number;
}

/** All error codes. A code means the same in both error formats; `forbidden` (403) exists in the payout format only. */
const ERRORS: Record<string, Explained> = {
  ...PAYOUT_ERRORS,
  ...STRUCTURED_ERRORS,
  forbidden: PERMISSION_DENIED,
};

/** A page for each error code, which `doc_url` of error answers points to, and a list of all. */
export function errorPages(): PublicPage[] {
  const pages = Object.entries(ERRORS).map(([code, { status, title, cause, advice }]) =>
    pageAt(`/docs/errors/${code}`, { page: 'error', code, status, title, cause, advice }),
  );
  return [pageAt('/docs/errors', { page: 'error_list', errors: sorted() }), ...pages];
}

const pageAt = (path: string, view: PageView): PublicPage => ({
  path,
  handle: async () => htmlAnswer(await renderPage(view)),
});

/** By status, then by code. */
const sorted = () =>
  Object.entries(ERRORS)
    .map(([code, { status, title }]) => ({ code, status, title }))
    .sort((a, b) => a.status - b.status || a.code.localeCompare(b.code));
