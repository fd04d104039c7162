import { useEffect, useState } from 'preact/hooks';
import type { Provider, StandardWallet, TronProvider } from './run.ts';

interface Announced {
  id: string;
  name: string;
  /** A `data:` address of a picture, or none. */
  icon: string | null;
}
export type EthereumWallet = Announced & { kind: 'ethereum'; provider: Provider };

type TronWallet = Announced & { kind: 'tron'; provider: TronProvider; isOld: boolean };

/** A wallet that has announced itself to the page. */
export type FoundWallet =
  | EthereumWallet
  | TronWallet
  | (Announced & { kind: 'solana'; wallet: StandardWallet });

const NAME_MAX = 40;
const WALLETS_MAX = 8;
/** Wallets answer at once; a phone's browser that has none yet is told other ways after that. */
const ALONE_AFTER_MS = 1_500;

/** Text of others must not turn the page's around. */
export const plainName = (name: string) => name.replaceAll(/\p{C}/gu, '').trim().slice(0, NAME_MAX);

/** Of what somebody's extension says of itself; undefined for anything but a wallet. */
function readWallet(detail: unknown): (Announced & { provider: Provider }) | undefined {
  const { info, provider } = Object(detail);
  const { uuid, name, icon } = Object(info);
  if (typeof uuid !== 'string' || typeof name !== 'string' || typeof provider?.request !== 'function') return;
  const plain = plainName(name);
  const isPicture = typeof icon === 'string' && icon.startsWith('data:image/');
  if (plain === '') return undefined;
  return { id: uuid, name: plain, icon: isPicture ? icon : null, provider };
}

type Standard = 'eip6963' | 'TIP6963';

/** EIP-6963, and TIP-6963 of Tron: the page dispatches a request, and each wallet answers with an event. No server is called. */
function followAnnounced(
  standard: Standard,
  onWallet: (wallet: Announced & { provider: Provider }) => void,
): () => void {
  const onEvent = (event: Event) => {
    const wallet = event instanceof CustomEvent ? readWallet(event.detail) : undefined;
    if (wallet !== undefined) onWallet(wallet);
  };
  addEventListener(`${standard}:announceProvider`, onEvent);
  dispatchEvent(new Event(`${standard}:requestProvider`));
  return () => removeEventListener(`${standard}:announceProvider`, onEvent);
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

/** One that announces itself again, such as after it was updated, is the same. */
const withWallet = <W extends Announced>(known: readonly W[], wallet: W): readonly W[] =>
  known.some(({ id }) => id === wallet.id) || known.length === WALLETS_MAX ? known : [...known, wallet];

/**
 * The wallets of this browser that pay on Ethereum.
 *
 * @param isWanted whether the page has anything to pay by them
 */
function useEthereumWallets(isWanted: boolean): Found<EthereumWallet> {
  const [wallets, setWallets] = useState<readonly EthereumWallet[]>([]);
  useEffect(() => {
    if (!isWanted) return;
    return followAnnounced('eip6963', (wallet) =>
      setWallets((known) => withWallet(known, { kind: 'ethereum', ...wallet })),
    );
  }, [isWanted]);
  return { wallets, isAlone: useAlone(isWanted, wallets.length) };
}

/** Older wallets of Tron say nothing and stand in the page. */
const OLD_NAME = 'TronLink';

function useTronWallets(isWanted: boolean): Found<TronWallet> {
  const [wallets, setWallets] = useState<readonly TronWallet[]>([]);
  const [old, setOld] = useState<TronProvider | null>(null);
  useEffect(() => {
    if (!isWanted) return;
    const look = () => {
      const { tronLink } = Object(globalThis);
      if (typeof tronLink?.request === 'function') setOld(tronLink);
    };
    const stop = followAnnounced('TIP6963', (wallet) =>
      setWallets((known) => withWallet(known, { kind: 'tron', isOld: false, ...wallet })),
    );
    addEventListener('tronLink#initialized', look);
    look();
    return () => {
      stop();
      removeEventListener('tronLink#initialized', look);
    };
  }, [isWanted]);
  const found: readonly TronWallet[] =
    old === null || wallets.some(({ name }) => name === OLD_NAME)
      ? wallets
      : [...wallets, { kind: 'tron', id: OLD_NAME, name: OLD_NAME, icon: null, provider: old, isOld: true }];
  return { wallets: found, isAlone: useAlone(isWanted, found.length) };
}

/** The wallets of this browser that pay on a chain of Solana, as the wallet standard names it; null: none is wanted. */
function useStandardWallets(chain: string | null): Found<FoundWallet> {
  const [wallets, setWallets] = useState<readonly FoundWallet[]>([]);
  useEffect(() => {
    if (chain === null) return;
    let isOver = false;
    let stop = () => {};
    const load = async () => {
      const { followStandardWallets } = await import('./standard-wallets.ts');
      if (!isOver) stop = followStandardWallets(chain, (some) => setWallets(some.slice(0, WALLETS_MAX)));
    };
    // Where it fails to load, payers still pay by the address.
    load().catch(() => {});
    return () => {
      isOver = true;
      stop();
    };
  }, [chain]);
  return { wallets, isAlone: useAlone(chain !== null, wallets.length) };
}

/** Of which kind, and on which chain where that matters. */
type WantedWallet = { kind: 'ethereum' | 'tron' } | { kind: 'solana'; chain: string };

/** The wallets of this browser that pay what is due, or may be charged. */
export function useFoundWallets(wanted: WantedWallet | null): Found<FoundWallet> {
  const ethereum = useEthereumWallets(wanted?.kind === 'ethereum');
  const tron = useTronWallets(wanted?.kind === 'tron');
  const solana = useStandardWallets(wanted?.kind === 'solana' ? wanted.chain : null);
  if (wanted === null) return { wallets: [], isAlone: false };
  return { ethereum, tron, solana }[wanted.kind];
}
