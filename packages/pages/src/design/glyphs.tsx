import type { Network } from '@florin/contract/money';
import type { VNode } from 'preact';

// Drawn here and part of the document: nothing is loaded for them. They stand beside a name and are hidden from readers.

const TOKENS: Readonly<Record<string, VNode>> = {
  USDT: (
    <>
      <circle cx="12" cy="12" r="12" fill="#12805c" />
      <path
        fill="#fff"
        d="M6.8 6.6h10.4v2.9h-3.7v1.6c2.7.2 4.6.9 4.6 1.7s-1.9 1.5-4.6 1.7v4h-3v-4c-2.7-.2-4.6-.9-4.6-1.7s1.9-1.5 4.6-1.7V9.5H6.8zm3.7 5.3c-1.7.1-2.9.5-2.9.9 0 .5 2 1 4.4 1s4.4-.5 4.4-1c0-.4-1.2-.8-2.9-.9v1.2h-3z"
      />
    </>
  ),
  USDC: (
    <>
      <circle cx="12" cy="12" r="12" fill="#2467b5" />
      <path
        fill="none"
        stroke="#fff"
        stroke-width="1.6"
        stroke-linecap="round"
        d="M9.3 4.7a7.8 7.8 0 0 0 0 14.6M14.7 4.7a7.8 7.8 0 0 1 0 14.6M14.6 9.8c-.3-1-1.2-1.6-2.6-1.6-1.5 0-2.6.7-2.6 1.9 0 2.6 5.3 1.2 5.3 3.9 0 1.2-1.1 1.9-2.7 1.9-1.5 0-2.5-.6-2.8-1.7M12 6.8v10.5"
      />
    </>
  ),
};

const NETWORKS: Record<Network, VNode> = {
  erc20: (
    <>
      <circle cx="12" cy="12" r="12" fill="#4f63b8" />
      <path fill="#fff" d="M12 3.8l5 8.3-5 3-5-3zM7.3 13.7l4.7 2.8 4.7-2.8L12 20.2z" />
    </>
  ),
  trc20: (
    <>
      <circle cx="12" cy="12" r="12" fill="#b91c24" />
      <path
        fill="none"
        stroke="#fff"
        stroke-width="1.4"
        stroke-linejoin="round"
        d="M6.3 6.8l9.3 1.7 3 2.9-8 8.4zM6.3 6.8l5.2 4.7-.9 8.3M11.5 11.5l4.1-3M11.5 11.5l7.1-.1"
      />
    </>
  ),
  spl: (
    <>
      <circle cx="12" cy="12" r="12" fill="#1b1726" />
      <path fill="#2fe0a5" d="M8.5 7h9.3l-2.3 2.4H6.2z" />
      <path fill="#6aa9f2" d="M15.5 10.8H6.2l2.3 2.4h9.3z" />
      <path fill="#a368f5" d="M8.5 14.6h9.3L15.5 17H6.2z" />
    </>
  ),
};

function Glyph({ drawn }: { drawn: VNode | undefined }) {
  if (drawn === undefined) return null;
  return (
    <svg class="glyph" viewBox="0 0 24 24" aria-hidden="true">
      {drawn}
    </svg>
  );
}

export const TokenGlyph = ({ token }: { token: string }) => <Glyph drawn={TOKENS[token]} />;
export const NetworkGlyph = ({ network }: { network: Network }) => <Glyph drawn={NETWORKS[network]} />;
