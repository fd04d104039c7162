import { useEffect, useState } from 'preact/hooks';
import type { Provider } from './run.ts';

/** A wallet that has announced itself to the page. */
export interface FoundWallet {
  id: string;
  name: string;
  /** A `data:` address of a picture, or none. */
  icon: string | null;
  provider: Provider;
}

const NAME_MAX = 40;
const WALLETS_MAX = 8;
/** Wallets answer at once; a phone's browser that has none yet is told other ways after that. */
const ALONE_AFTER_MS = 1_500;

/** Of what somebody's extension says of itself; undefined for anything but a wallet. */
function readWallet(detail: unknown): FoundWallet | undefined {
  const { info, provider } = Object(detail);
  const { uuid, name, icon } = Object(info);
  if (typeof uuid !== 'string' || typeof name !== 'string' || typeof provider?.request !== 'function') return;
  // Text of others must not turn the page's around.
  const plain = name.replaceAll(/\p{C}/gu, '').trim().slice(0, NAME_MAX);
  const isPicture = typeof icon === 'string' && icon.startsWith('data:image/');
  return plain === '' ? undefined : { id: uuid, name: plain, icon: isPicture ? icon : null, provider };
}

/**
 * The wallets of this browser, by EIP-6963: each announces itself when the page asks, and nobody else is asked.
 *
 * @param isWanted whether the page has anything to pay by them
 */
export function useFoundWallets(isWanted: boolean): { wallets: readonly FoundWallet[]; isAlone: boolean } {
  const [wallets, setWallets] = useState<readonly FoundWallet[]>([]);
  const [isAlone, setAlone] = useState(false);
  useEffect(() => {
    if (!isWanted) return;
    const onWallet = (event: Event) => {
      const wallet = event instanceof CustomEvent ? readWallet(event.detail) : undefined;
      if (wallet === undefined) return;
      // One that announces itself again, such as after it was updated, is the same.
      setWallets((known) =>
        known.some(({ id }) => id === wallet.id) || known.length === WALLETS_MAX ? known : [...known, wallet],
      );
    };
    addEventListener('eip6963:announceProvider', onWallet);
    dispatchEvent(new Event('eip6963:requestProvider'));
    const timer = setTimeout(() => setAlone(true), ALONE_AFTER_MS);
    return () => {
      clearTimeout(timer);
      removeEventListener('eip6963:announceProvider', onWallet);
    };
  }, [isWanted]);
  return { wallets, isAlone: isAlone && wallets.length === 0 };
}
