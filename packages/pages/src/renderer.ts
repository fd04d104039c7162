import type { CheckoutView, PageLanguage } from '@florin/contract/checkout-page';

/** What the shell of a page needs in words. */
export interface RenderedPage {
  title: string;
  /** HTML of the page's `main`. */
  body: string;
}

/** A language's catalogue: words by key, with `{name}` for what is put in. */
export type Words = Readonly<Record<string, string>>;

/** What the page's script starts from. */
export interface PageData {
  view: CheckoutView;
  words: Words;
  /** Of the page's address; calls of the page go below it. */
  token: string;
}

/** The page as the server renders it: the same components as in the browser. */
export interface Renderer {
  render: (view: CheckoutView, token: string) => RenderedPage & { data: PageData };
  /** A page without a payment: there is none at its address, or it cannot be shown. */
  say: (language: PageLanguage, what: 'not_found' | 'trouble') => RenderedPage;
}
