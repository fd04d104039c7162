import { textsOf, translatorOf } from '../catalogues.ts';
import type { Sheet } from '../design/shell.tsx';
import type { BuiltScript } from '../renderer.ts';
import { translator } from '../texts.ts';
import type { CheckoutPageView } from '../views/checkout.ts';
import { CheckoutPage } from './checkout-page.tsx';
import type { PageData } from './page-data.ts';
import { titleOf } from './titles.ts';

const nothing = () => {};

/** The page as the server renders it: the same components as in the browser, which goes on from its data. */
export function checkoutSheet({ view, token }: CheckoutPageView, { name, integrity }: BuiltScript): Sheet {
  const { language } = view;
  const texts = textsOf('checkout', language);
  const testText = translatorOf('shell', language)('test_mode');
  const t = translator(texts, language);
  const page = {
    view,
    token,
    testText,
    t,
    since: 0,
    isLive: false,
    isChoosing: false,
    isBusy: false,
    choose: nothing,
    submit: nothing,
    say: nothing,
    onTampered: nothing,
  };
  const data: PageData = { view, texts, testText, token };
  return {
    language,
    title: titleOf(view, t),
    body: <CheckoutPage page={page} />,
    // Relative, so that the service may stand below any path of a proxy.
    script: { src: `assets/${name}`, integrity, data },
  };
}
