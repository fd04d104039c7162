import { textsOf, translatorOf } from '../catalogues.ts';
import type { Sheet } from '../design/shell.tsx';
import type { BuiltScript } from '../renderer.ts';
import { translator } from '../texts.ts';
import type { CheckoutPageView, PageState } from '../views/checkout.ts';
import { CheckoutPage } from './checkout-page.tsx';
import type { PageData } from './page-data.ts';
import { titleOf } from './titles.ts';
import { NO_WALLETS } from './wallet/use-wallets.ts';

const nothing = () => {};
/** Without script the page loads itself again while something may still happen. */
const WAITING = new Set<PageState>(['pay', 'confirming', 'closing', 'frozen']);
const RELOAD_SECONDS = 15;

/** The page as the server renders it: the same components as in the browser, which goes on from its data. */
export function checkoutSheet(
  { view, token, choosing, isAutoReturn }: CheckoutPageView,
  { name, integrity }: BuiltScript,
): Sheet {
  const { language } = view;
  const texts = textsOf('checkout', language);
  const shell = translatorOf('shell', language);
  const testText = shell('test_mode');
  const contactText = shell('contact', { store: view.storeName });
  const t = translator(texts, language);
  const page = {
    view,
    token,
    testText,
    contactText,
    t,
    since: 0,
    isLive: false,
    choosing,
    isAutoReturn,
    isBusy: false,
    go: nothing,
    submit: nothing,
    say: nothing,
    onTampered: nothing,
    wallets: NO_WALLETS,
  };
  const data: PageData = { view, texts, testText, contactText, token, choosing, isAutoReturn };
  return {
    language,
    title: titleOf(view, t),
    body: <CheckoutPage page={page} />,
    store: view,
    isSplit: true,
    ...(WAITING.has(view.state) && choosing === null ? { reloadSeconds: RELOAD_SECONDS } : {}),
    // Relative, so that the service may stand below any path of a proxy.
    script: { src: `assets/${name}`, integrity, data },
  };
}
