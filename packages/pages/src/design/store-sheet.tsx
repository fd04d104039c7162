import type { ComponentChildren } from 'preact';
import { translatorOf } from '../catalogues.ts';
import type { StorePage } from '../views/payer-page.ts';
import { StoreHead } from './parts.tsx';
import type { Sheet } from './shell.tsx';

/** A sheet under a store's head. */
export function storeSheet(
  { language, storeName, isTest }: StorePage,
  title: string,
  children: ComponentChildren,
): Sheet {
  const test = isTest ? translatorOf('shell', language)('test_mode') : undefined;
  return {
    language,
    title,
    body: (
      <>
        <StoreHead storeName={storeName} test={test} />
        {children}
      </>
    ),
  };
}
