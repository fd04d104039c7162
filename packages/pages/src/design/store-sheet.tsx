import type { ComponentChildren } from 'preact';
import { translatorOf } from '../catalogues.ts';
import type { StorePage } from '../views/payer-page.ts';
import { StoreHead } from './parts.tsx';
import { ROOT } from './root.ts';
import type { Sheet } from './shell.tsx';

/** A sheet under a store's head. @param root the way from the page's address to the service's own */
export function storeSheet(
  store: StorePage,
  title: string,
  children: ComponentChildren,
  root: string = ROOT,
): Sheet {
  const { language, isTest } = store;
  const test = isTest ? translatorOf('shell', language)('test_mode') : undefined;
  return {
    language,
    title,
    store,
    body: (
      <>
        {test === undefined ? null : <p class="test">{test}</p>}
        <StoreHead store={store} root={root} />
        {children}
      </>
    ),
  };
}
