import type { DueWallet } from '../../views/checkout.ts';

interface App {
  name: string;
  /** Where the page's address goes in the link. */
  linkTo: (url: URL) => string;
}

const browsing = ({ href, origin }: URL) => `${encodeURIComponent(href)}?ref=${encodeURIComponent(origin)}`;

/** Wallets whose own browser opens a page by a link. */
const APPS: Record<DueWallet['kind'], readonly App[]> = {
  ethereum: [
    {
      name: 'MetaMask',
      linkTo: ({ host, pathname, search }) => `https://metamask.app.link/dapp/${host}${pathname}${search}`,
    },
    {
      name: 'Trust Wallet',
      linkTo: ({ href }) =>
        `https://link.trustwallet.com/open_url?coin_id=60&url=${encodeURIComponent(href)}`,
    },
    {
      name: 'Coinbase Wallet',
      linkTo: ({ href }) => `https://go.cb-w.com/dapp?cb_url=${encodeURIComponent(href)}`,
    },
  ],
  tron: [
    {
      name: 'TronLink',
      linkTo: ({ href: url }) => {
        const order = { url, action: 'open', protocol: 'TronLink', version: '1.0' };
        return `tronlinkoutside://pull.activity?param=${encodeURIComponent(JSON.stringify(order))}`;
      },
    },
  ],
  solana: [
    { name: 'Phantom', linkTo: (url) => `https://phantom.app/ul/browse/${browsing(url)}` },
    { name: 'Solflare', linkTo: (url) => `https://solflare.com/ul/v1/browse/${browsing(url)}` },
  ],
};

export const APP_NAMES = Object.values(APPS).flatMap((apps) => apps.map(({ name }) => name));

interface Texts {
  summary: string;
  text: string;
  open: (wallet: string) => string;
}

/** A phone without a wallet in this browser may have one as an app, whose own browser can open the page. */
export function WalletApps({
  isAlone,
  kind,
  texts,
}: {
  isAlone: boolean;
  kind: DueWallet['kind'];
  texts: Texts;
}) {
  if (!isAlone || !matchMedia('(pointer: coarse)').matches) return null;
  const here = new URL(location.href);
  return (
    <details class="gap">
      <summary>{texts.summary}</summary>
      <p class="small quiet">{texts.text}</p>
      {APPS[kind].map(({ name, linkTo }) => (
        <a key={name} class="button plain gap" href={linkTo(here)} rel="noreferrer">
          {texts.open(name)}
        </a>
      ))}
    </details>
  );
}
