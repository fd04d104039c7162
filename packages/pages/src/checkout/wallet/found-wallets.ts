import { useEffect, useState } from 'preact/hooks';
import type { DueWallet } from '../../views/checkout.ts';
import type { Provider, StandardWallet } from './run.ts';

interface Announced {
  id: string;
  name: string;
  /** A `data:` address of a picture, or none. */
  icon: string | null;
}
export type EthereumWallet = Announced & { kind: 'ethereum'; provider: Provider };

/** A wallet that has announced itself to the page. */
export type FoundWallet = EthereumWallet | (Announced & { kind: 'solana'; wallet: StandardWallet });

const NAME_MAX = 40;
const WALLETS_MAX = 8;
/** Wallets answer at once; a phone's browser that has none yet is told other ways after that. */
const ALONE_AFTER_MS = 1_500;

/** Text of others must not turn the page's around. */
export const plainName = (name: string) => name.replaceAll(/\p{C}/gu, '').trim().slice(0, NAME_MAX);

/** Of what somebody's extension says of itself; undefined for anything but a wallet. */
function readWallet(detail: unknown): EthereumWallet | undefined {
  const { info, provider } = Object(detail);
  const { uuid, name, icon } = Object(info);
  if (typeof uuid !== 'string' || typeof name !== 'string' || typeof provider?.request !== 'function') return;
  const plain = plainName(name);
  const isPicture = typeof icon === 'string' && icon.startsWith('data:image/');
  if (plain === '') return undefined;
  return { kind: 'ethereum', id: uuid, name: plain, icon: isPicture ? icon : null, provider };
}

/** By EIP-6963: each announces itself when the page asks, and nobody else is asked. */
function followEthereumWallets(onWallet: (wallet: EthereumWallet) => void): () => void {
  const onEvent = (event: Event) => {
    const wallet = event instanceof CustomEvent ? readWallet(event.detail) : undefined;
    if (wallet !== undefined) onWallet(wallet);
  };
  addEventListener('eip6963:announceProvider', onEvent);
  dispatchEvent(new Event('eip6963:requestProvider'));
  return () => removeEventListener('eip6963:announceProvider', onEvent);
}

/** `isAlone`: after a while there is still none. */
interface Found<W> {
  wallets: readonly W[];
  isAlone: boolean;
}

function useAlone(isWanted: boolean, count: number): boolean {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    if (!isWanted) return;
    const timer = setTimeout(() => setLate(true), ALONE_AFTER_MS);
    return () => clearTimeout(timer);
  }, [isWanted]);
  return isLate && count === 0;
}

/**
 * The wallets of this browser that pay on Ethereum.
 *
 * @param isWanted whether the page has anything to pay by them
 */
export function useEthereumWallets(isWanted: boolean): Found<EthereumWallet> {
  const [wallets, setWallets] = useState<readonly EthereumWallet[]>([]);
  useEffect(() => {
    if (!isWanted) return;
    return followEthereumWallets((wallet) =>
      // One that announces itself again, such as after it was updated, is the same.
      setWallets((known) =>
        known.some(({ id }) => id === wallet.id) || known.length === WALLETS_MAX ? known : [...known, wallet],
      ),
    );
  }, [isWanted]);
  return { wallets, isAlone: useAlone(isWanted, wallets.length) };
}

/** The wallets of this browser that pay what is due. */
export function useFoundWallets(wanted: DueWallet | null): Found<FoundWallet> {
  const ethereum = useEthereumWallets(wanted?.kind === 'ethereum');
  const [wallets, setWallets] = useState<readonly FoundWallet[]>([]);
  const chain = wanted?.kind === 'solana' ? wanted.chain : null;
  useEffect(() => {
    if (chain === null) return;
    let isOver = false;
    let stop = () => {};
    const load = async () => {
      const { followStandardWallets } = await import('./standard-wallets.ts');
      if (!isOver) stop = followStandardWallets(chain, (some) => setWallets(some.slice(0, WALLETS_MAX)));
    };
    // Without it the page is whole: whoever pays by the address needs none.
    load().catch(() => {});
    return () => {
      isOver = true;
      stop();
    };
  }, [chain]);
  const isAlone = useAlone(chain !== null, wallets.length);
  if (wanted?.kind === 'ethereum') return ethereum;
  return chain === null ? { wallets: [], isAlone: false } : { wallets, isAlone };
}
