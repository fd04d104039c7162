import { ASSETS, type Asset } from '@florin/contract/money';
import type { Movement, RotatedKeyRef, RotatedWallet, RotationFacts } from '../../chains/port/index.ts';

// A rotated hot wallet hands over what it holds: tokens first, then the ether that is left. Charges land in it until the
// collector has moved its home, which takes two days after its owner has said so. Pure: facts in, step out. One movement at a
// time, so that each is decided by balances that show the one before.

export interface RotationLimits {
  /** The most ether that a wallet may hold, and rotated ones be given in all, in wei. */
  gasCeiling: bigint;
  /** The most that the gas tank's transactions can still cost. */
  tankSpending: bigint;
  /** Ether that rotated wallets were given for this rotation: whoever has their key can take it. */
  given: bigint;
  /** Units of six digits that handing a token over costs at most; 0: nobody knows. Not more than that is not handed over. */
  cost: bigint;
  /** Tokens whose moves have reverted a moment ago, as `tokenIn` names them. */
  resting: ReadonlySet<string>;
  /** Tokens with a move that is in a block, and not final: whether it has moved anything is not known yet. */
  undecided: ReadonlySet<string>;
}

export const tokenIn = (address: string, asset: Asset): string => `${address} ${asset}`;

const REST_MIN_SECONDS = 600;
const REST_MAX_SECONDS = 86_400;

/** For how long a token is left alone after so many moves that reverted: each costs its fee, and takes from the limits of all. */
export const restSeconds = (failures: number): number =>
  Math.min(REST_MAX_SECONDS, REST_MIN_SECONDS * 2 ** (failures - 1));

export type RotationWait =
  /** A movement of the rotation is in no block yet. */
  | 'moving'
  | 'tank_low'
  | 'gas_ceiling'
  /** The owner has to name the present wallet: by the command, with the passphrase. */
  | 'owner'
  /** A token does not leave its wallet: paused, blocked, or its moves revert. */
  | 'refused'
  /** The collector has not moved its home yet. */
  | 'home'
  /** What a wallet holds would cost more than it is worth, and is too much to be left there. */
  | 'dear'
  /** What the wallets held is not final elsewhere yet. */
  | 'final';

export type RotationStep =
  | {
      do: 'move';
      by: 'tank' | RotatedKeyRef;
      movement: Extract<Movement, { kind: 'gas' | 'move' | 'account' }>;
    }
  | { do: 'wait'; reason: RotationWait }
  | { do: 'end' };

/** Ether is left with its own fee several times over: what rises in between must not leave a transaction without cover. */
const LEFT = 4n;
/** Native coin below so many fees stays where it is. */
const WORTH = 10n;
/** Units that may be left for good, where they are not worth their fee: a dollar. */
const DUST_MAX = 1_000_000n;
/** The owner's two calls, and one that is sent again. */
const OWNER_CALLS = 3n;

const wait = (reason: RotationWait): RotationStep => ({ do: 'wait', reason });

/** Whether the collector's account is the present wallet's, as far as its owner has to say so. */
export function ownerTasks({
  hot,
  collector,
}: Pick<RotationFacts, 'hot' | 'collector'>): ('operator' | 'home')[] {
  if (collector === null || collector.isMissing) return [];
  const { operator, home, nextHome } = collector;
  const willBeHome = nextHome === null ? home : nextHome.address;
  return [
    ...(operator === hot ? [] : (['operator'] as const)),
    ...(willBeHome === hot ? [] : (['home'] as const)),
  ];
}

/**
 * The next step of a rotation that has switched wallets.
 *
 * @param isMoving whether one of its movements is not in a block
 */
export function nextRotationStep(
  facts: RotationFacts,
  limits: RotationLimits,
  isMoving: boolean,
): RotationStep {
  if (isMoving) return wait('moving');
  const { hot, wallets, collector, fees } = facts;
  // Charges wait for it, so it comes first.
  if (collector?.isMissing === true) return fromTank(facts, limits, { kind: 'account' }, fees.account);
  const tasks = ownerTasks(facts);
  const needed = OWNER_CALLS * fees.ownerCall;
  if (
    collector !== null &&
    !collector.owner.isCold &&
    tasks.length > 0 &&
    collector.owner.native < BigInt(tasks.length) * fees.ownerCall
  )
    return giveGas(facts, limits, { to: 'owner', native: collector.owner.native, needed });
  for (const wallet of wallets) {
    const step = handOver(facts, limits, wallet);
    if (step !== undefined) return step;
  }
  if (tasks.length > 0) return wait('owner');
  const isAnyHeld = (is: (wallet: RotatedWallet, asset: Asset) => boolean) =>
    wallets.some((wallet) => heldIn(wallet, limits).some((asset) => is(wallet, asset)));
  if (isAnyHeld(({ address }, asset) => limits.undecided.has(tokenIn(address, asset)))) return wait('final');
  if (isAnyHeld((wallet, asset) => isRefused(wallet, limits, asset))) return wait('refused');
  if (collector !== null && collector.home !== hot) return wait('home');
  // Charges of the blocks before it could still reach the old wallet.
  if (collector?.nextHome != null && collector.nextHome.movesAt > facts.finalTime) return wait('final');
  const dust = limits.cost < DUST_MAX ? limits.cost : DUST_MAX;
  if (wallets.some(({ tokens }) => holdsMore(tokens, dust))) return wait('dear');
  if (wallets.some(({ finalTokens }) => holdsMore(finalTokens, dust))) return wait('final');
  for (const { keyRef, native } of wallets)
    if (native > WORTH * fees.plain)
      return {
        do: 'move',
        by: keyRef,
        movement: { kind: 'move', asset: null, amount: native - LEFT * fees.plain },
      };
  return { do: 'end' };
}

/** The tokens of a wallet, the ether for moving them before. */
function handOver(
  facts: RotationFacts,
  limits: RotationLimits,
  wallet: RotatedWallet,
): RotationStep | undefined {
  const { keyRef, native, tokens } = wallet;
  const held = heldIn(wallet, limits).filter(
    (asset) => !isRefused(wallet, limits, asset) && !limits.undecided.has(tokenIn(wallet.address, asset)),
  );
  const [asset] = held;
  if (asset === undefined) return undefined;
  const { move } = facts.fees;
  if (native < move)
    return giveGas(facts, limits, { to: keyRef, native, needed: move * BigInt(held.length) });
  return { do: 'move', by: keyRef, movement: { kind: 'move', asset, amount: unitsOf(tokens, asset) } };
}

const heldIn = ({ tokens }: RotatedWallet, { cost }: RotationLimits) =>
  ASSETS.filter((asset) => unitsOf(tokens, asset) > cost);

const isRefused = ({ address, refused }: RotatedWallet, { resting }: RotationLimits, asset: Asset) =>
  refused.has(asset) || resting.has(tokenIn(address, asset));

const holdsMore = (tokens: ReadonlyMap<Asset, bigint>, units: bigint) =>
  ASSETS.some((asset) => unitsOf(tokens, asset) > units);

const unitsOf = (tokens: ReadonlyMap<Asset, bigint>, asset: Asset) => tokens.get(asset) ?? 0n;

/** What ether from the gas tank depends on. */
type GasFacts = Pick<RotationFacts, 'tank'> & { fees: Pick<RotationFacts['fees'], 'plain'> };
type GasLimits = Pick<RotationLimits, 'gasCeiling' | 'given' | 'tankSpending'>;

/** Transactions that a rotated wallet has signed and no block holds. */
export interface SignedMoves {
  keyRef: RotatedKeyRef;
  /** What the wallet holds, in wei. */
  native: bigint;
  /** The most that their fees can come to, and the native coin that they move. */
  fees: bigint;
  moved: bigint;
}

/**
 * Ether for what a rotated wallet has signed and cannot pay. A move is decided at one price and signed, or signed again, at a
 * later one, and no node takes it without cover: nothing but ether ends that, as its sequence holds up whatever comes next.
 *
 * @returns undefined where it can pay
 */
export function coverMoves(
  facts: GasFacts,
  limits: GasLimits,
  { keyRef, native, fees, moved }: SignedMoves,
): RotationStep | undefined {
  // What is moved is no ether for fees, and may be above the ceiling.
  const left = native - moved;
  return left >= fees ? undefined : giveGas(facts, limits, { to: keyRef, native: left, needed: fees });
}

function giveGas(
  facts: GasFacts,
  limits: GasLimits,
  { to, native, needed }: { to: 'owner' | RotatedKeyRef; native: bigint; needed: bigint },
): RotationStep {
  const missing = needed - native;
  const room = least(limits.gasCeiling - native, limits.gasCeiling - (to === 'owner' ? 0n : limits.given));
  if (missing > room) return wait('gas_ceiling');
  // A quarter more, as fees rise while it is on its way.
  const wanted = least((missing * 5n) / 4n, room);
  const { topUpMax = wanted } = facts.tank;
  const amount = least(wanted, topUpMax);
  if (amount <= 0n) return wait('gas_ceiling');
  return fromTank(facts, limits, { kind: 'gas', amount, to }, amount + facts.fees.plain);
}

const least = (a: bigint, b: bigint) => (a < b ? a : b);

function fromTank(
  { tank }: GasFacts,
  { tankSpending }: GasLimits,
  movement: Extract<Movement, { kind: 'gas' | 'account' }>,
  cost: bigint,
): RotationStep {
  if (tank.native - tankSpending < cost) return wait('tank_low');
  return { do: 'move', by: 'tank', movement };
}
