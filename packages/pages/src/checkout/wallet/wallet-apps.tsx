/** Wallets whose own browser opens a page by a link: each names where the page's address goes in it. */
const APPS: readonly { name: string; linkTo: (url: URL) => string }[] = [
  {
    name: 'MetaMask',
    linkTo: ({ host, pathname, search }) => `https://metamask.app.link/dapp/${host}${pathname}${search}`,
  },
  {
    name: 'Trust Wallet',
    linkTo: ({ href }) => `https://link.trustwallet.com/open_url?coin_id=60&url=${encodeURIComponent(href)}`,
  },
  {
    name: 'Coinbase Wallet',
    linkTo: ({ href }) => `https://go.cb-w.com/dapp?cb_url=${encodeURIComponent(href)}`,
  },
];

export const APP_NAMES = APPS.map(({ name }) => name);

interface Texts {
  summary: string;
  text: string;
  open: (wallet: string) => string;
}

/** A phone without a wallet in this browser may have one as an app, whose own browser can open the page. */
export function WalletApps({ isAlone, texts }: { isAlone: boolean; texts: Texts }) {
  if (!isAlone || !matchMedia('(pointer: coarse)').matches) return null;
  const here = new URL(location.href);
  return (
    <details class="gap">
      <summary>{texts.summary}</summary>
      <p class="small quiet">{texts.text}</p>
      {APPS.map(({ name, linkTo }) => (
        <a key={name} class="button plain gap" href={linkTo(here)} rel="noreferrer">
          {texts.open(name)}
        </a>
      ))}
    </details>
  );
}
