import { ASSETS, type Asset } from '@florin/contract/money';
import type {
  KeyRef,
  Movement,
  RotatedKeyRef,
  RotatedWallet,
  RotationFacts,
} from '../../chains/port/index.ts';
import { largestOf } from '../../platform/amounts.ts';
import { boundTopUp, type TopUpWait } from '../attempts/readiness.ts';
import { REPLACE_AFTER_SECONDS, secondsSince } from '../states.ts';

// A rotated hot wallet hands over what it holds: tokens first, then the ether that is left. Charges land in it until the
// collector has moved its home, which takes two days after its owner has said so. Pure: facts in, step out. One movement at a
// time, so that each is decided by balances that show the one before.

export interface RotationLimits {
  /** The most ether that a wallet may hold, and each be given in all for a rotation, in wei. */
  gasCeiling: bigint;
  /** The most that the gas tank's transactions can still cost, and what of that other wallets get. */
  tankSpending: bigint;
  topUps: bigint;
  /**
   * What each rotated wallet, and the owner, was given for this rotation, with what giving it has cost: whoever has their key can take it, and
   * takes nothing from the others.
   */
  given: ReadonlyMap<RotatedKeyRef | 'owner', bigint>;
  /** Units of six digits that handing a token over costs at most; 0: nobody knows. Not more than that is not handed over. */
  cost: bigint;
  /** Tokens, and ether, whose moves have come to nothing a moment ago, as `tokenIn` names them. */
  resting: ReadonlySet<string>;
  /** Those with a move that is in a block, and not final: whether it has moved anything is not known yet. */
  undecided: ReadonlySet<string>;
  /** Keys for which the signer has refused a movement a moment ago: it is asked for no other one. */
  held: ReadonlySet<KeyRef>;
  /** Addresses of wallets of which no block takes what they have signed, and why. Nothing else of theirs gets there, and nobody waits. */
  setAside: ReadonlyMap<string, SetAside>;
}

/** @param asset null: its ether */
export const tokenIn = (address: string, asset: Asset | null): string => `${address} ${asset}`;

const REST_MIN_SECONDS = 600;
const REST_MAX_SECONDS = 86_400;

/**
 * For how long a token is left alone after so many moves that reverted, or lost their sequence to whoever has the old key: each takes from
 * the limits of all.
 */
export const restSeconds = (failures: number): number =>
  Math.min(REST_MAX_SECONDS, REST_MIN_SECONDS * 2 ** (failures - 1));

/** `taken`: a wallet cannot pay what it has signed, as its ether was taken; `stuck`: no block takes it, for whatever reason. */
export type SetAside = 'taken' | 'stuck';

/** What can be paid is in a block long before. */
const STUCK_SECONDS = 3_600;

/** Why nobody waits for an open attempt of a rotated wallet; undefined: it is waited for. */
export function reasonToSetAside(
  { cost, createdAt, sentAt }: { cost: bigint | null; createdAt: bigint; sentAt: bigint | null },
  { native, isGettingGas, nowSeconds }: { native: bigint; isGettingGas: boolean; nowSeconds: number },
): SetAside | undefined {
  const isPayable = cost === null || native >= cost || isGettingGas;
  const sentFor = secondsSince(nowSeconds, Number(sentAt ?? nowSeconds));
  if (!isPayable && sentFor >= REPLACE_AFTER_SECONDS) return 'taken';
  // By its first version: each later one is sent anew.
  return nowSeconds - Number(createdAt) >= STUCK_SECONDS ? 'stuck' : undefined;
}

export type RotationWait =
  /** A movement of the rotation is in no block yet. */
  | 'moving'
  | 'tank_low'
  | TopUpWait
  /** The signer has refused a movement: it is asked again after a while. */
  | 'held'
  | SetAside
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
  /** `isOver`: what is waited for may never come, and all else is done: the next rotation may begin. */
  | { do: 'wait'; reason: RotationWait; isOver?: boolean }
  | { do: 'end' };

/** Ether is left with its own fee several times over: what rises in between must not leave a transaction without cover. */
const LEFT = 4n;
/** Native coin below so many fees stays where it is. */
const WORTH = 10n;
/** Units that may be left for good, where they are not worth their fee: a dollar. */
const DUST_MAX = 1_000_000n;
/** The owner's two calls, and one that is sent again. */
const OWNER_CALLS = 3n;

const wait = (reason: RotationWait): Extract<RotationStep, { do: 'wait' }> => ({ do: 'wait', reason });

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
 * @param isMoving whether one of its movements is not in a block, but for those of wallets that are set aside
 */
export function nextRotationStep(
  facts: RotationFacts,
  limits: RotationLimits,
  isMoving: boolean,
): RotationStep {
  if (isMoving) return wait('moving');
  // Charges wait for it, so it comes first; while the tank cannot, coins go on.
  const before = prepareAccount(facts, limits);
  if (before?.do === 'move') return before;
  const kept = new Map<string, Kept>();
  // What the merchant pays with lies in the newest one.
  for (const wallet of facts.wallets.toReversed()) {
    const step = handOver(facts, limits, wallet);
    if (step?.do === 'move') return step;
    const own = keptIn(wallet, limits, step);
    if (own !== undefined) kept.set(wallet.address, own);
  }
  if (before !== undefined) return before;
  const tasks = ownerTasks(facts);
  const next = tasks.length > 0 ? wait('owner') : finish(facts, limits, kept);
  return next.do === 'move' ? next : withKept(next, kept);
}

/** The account at the collector, and ether for its owner's calls. */
function prepareAccount(facts: RotationFacts, limits: RotationLimits): RotationStep | undefined {
  const { collector, fees } = facts;
  if (collector === null) return undefined;
  if (collector.isMissing) return fromTank(facts, limits, { kind: 'account' }, fees.account);
  const { isCold, native } = collector.owner;
  const calls = BigInt(ownerTasks(facts).length);
  if (isCold || native >= calls * fees.ownerCall) return undefined;
  return giveGas(facts, limits, { to: 'owner', native, needed: OWNER_CALLS * fees.ownerCall });
}

/** What a wallet keeps while everything else goes on; its ether too, which moving it later needs. */
interface Kept {
  reason: RotationWait;
  tokens: ReadonlySet<Asset>;
  /** Not in our hands: a rotation that waits for nothing else lets the next one begin, and is looked at again all the same. */
  mayNeverPass: boolean;
}

function keptIn(
  wallet: RotatedWallet,
  limits: RotationLimits,
  step: RotationStep | undefined,
): Kept | undefined {
  const all = new Set(ASSETS);
  const aside = limits.setAside.get(wallet.address);
  if (aside !== undefined) return { reason: aside, tokens: all, mayNeverPass: true };
  if (step?.do === 'wait') {
    const { reason } = step;
    // Where nothing was given nobody took it: fees are high, or the ceiling is low.
    const isUsedUp = (limits.given.get(wallet.keyRef) ?? 0n) > 0n;
    return { reason, tokens: all, mayNeverPass: reason === 'gas_ceiling' && isUsedUp };
  }
  const refused = heldIn(wallet, limits).filter((asset) => isRefused(wallet, limits, asset));
  return refused.length === 0
    ? undefined
    : { reason: 'refused', tokens: new Set(refused), mayNeverPass: true };
}

/** What is waited for, where wallets keep something: what the owner has to do comes first, as nothing else says so. */
function withKept(
  next: Exclude<RotationStep, { do: 'move' }>,
  kept: ReadonlyMap<string, Kept>,
): RotationStep {
  const reasons = [...kept.values()].map(({ reason }) => reason);
  const [first] = reasons;
  if (first === undefined) return next;
  const isOwners = next.do === 'wait' && next.reason === 'owner';
  const reason = isOwners ? 'owner' : (reasons.find((one) => one !== 'refused') ?? first);
  const isAllElse = next.do === 'end' || next.isOver === true;
  const isOver = isAllElse && [...kept.values()].every(({ mayNeverPass }) => mayNeverPass);
  return { do: 'wait', reason, isOver };
}

/** What follows once the tokens have left that can. */
function finish(
  { hot, wallets, collector, fees, finalTime }: RotationFacts,
  limits: RotationLimits,
  kept: ReadonlyMap<string, Kept>,
): Exclude<RotationStep, { do: 'move'; by: 'tank' }> {
  const leaves = ({ address }: RotatedWallet, asset: Asset) => kept.get(address)?.tokens.has(asset) !== true;
  const isUndecided = wallets.some((wallet) =>
    heldIn(wallet, limits).some(
      (asset) => leaves(wallet, asset) && limits.undecided.has(tokenIn(wallet.address, asset)),
    ),
  );
  if (isUndecided) return wait('final');
  if (collector !== null && collector.home !== hot) return wait('home');
  // Charges of the blocks before it could still reach the old wallet.
  if (collector?.nextHome != null && collector.nextHome.movesAt > finalTime) return wait('final');
  const dust = limits.cost < DUST_MAX ? limits.cost : DUST_MAX;
  const isLeft = (is: (tokens: bigint, finalTokens: bigint) => boolean) =>
    wallets.some((wallet) =>
      ASSETS.some(
        (asset) =>
          leaves(wallet, asset) && is(unitsOf(wallet.tokens, asset), unitsOf(wallet.finalTokens, asset)),
      ),
    );
  if (isLeft((now, final) => now <= dust && final > dust)) return wait('final');
  // Anybody can send so much to an old wallet: the next rotation does not wait for lower fees.
  if (isLeft((now) => now > dust)) return { do: 'wait', reason: 'dear', isOver: true };
  for (const { keyRef, address, native } of wallets) {
    const name = tokenIn(address, null);
    if (native <= WORTH * fees.plain || kept.has(address) || limits.resting.has(name)) continue;
    if (limits.undecided.has(name)) return wait('final');
    const amount = native - LEFT * fees.plain;
    return { do: 'move', by: keyRef, movement: { kind: 'move', asset: null, amount } };
  }
  return { do: 'end' };
}

/** The tokens of a wallet, the ether for moving them before. */
function handOver(
  facts: RotationFacts,
  limits: RotationLimits,
  wallet: RotatedWallet,
): RotationStep | undefined {
  const { keyRef, address, native, tokens } = wallet;
  const held = heldIn(wallet, limits).filter(
    (asset) => !isRefused(wallet, limits, asset) && !limits.undecided.has(tokenIn(address, asset)),
  );
  const [asset] = held;
  if (asset === undefined || limits.setAside.has(address)) return undefined;
  if (limits.held.has(keyRef)) return wait('held');
  const { move } = facts.fees;
  if (native < move)
    return giveGas(facts, limits, { to: keyRef, native, needed: move * BigInt(held.length) });
  return { do: 'move', by: keyRef, movement: { kind: 'move', asset, amount: unitsOf(tokens, asset) } };
}

const heldIn = ({ tokens }: RotatedWallet, { cost }: RotationLimits) =>
  ASSETS.filter((asset) => unitsOf(tokens, asset) > cost);

const isRefused = ({ address, refused }: RotatedWallet, { resting }: RotationLimits, asset: Asset) =>
  refused.has(asset) || resting.has(tokenIn(address, asset));

const unitsOf = (tokens: ReadonlyMap<Asset, bigint>, asset: Asset) => tokens.get(asset) ?? 0n;

/** What ether from the gas tank depends on. */
type GasFacts = Pick<RotationFacts, 'tank'> & { fees: Pick<RotationFacts['fees'], 'plain'> };
type GasLimits = Pick<RotationLimits, 'gasCeiling' | 'given' | 'tankSpending' | 'topUps' | 'held'>;

/** Transactions that a rotated wallet has signed and no block holds. */
export interface SignedMoves {
  keyRef: RotatedKeyRef;
  /** What the wallet holds, in wei. */
  native: bigint;
  /** The most that their fees can come to, and the native coin that they move. */
  fees: bigint;
  moved: bigint;
}

/** `isTaken`: the wallet does not even hold what it moves. */
export type CoverStep = RotationStep | { do: 'fill'; isTaken: boolean };

/**
 * What a rotated wallet has signed and cannot pay. A move is decided at one price and signed, or signed again, at a later one, and no
 * node takes it without cover, so its sequence holds up whatever comes next. A move of ether gives its sequence to an empty payment
 * where a part of that ether was taken, as only that payment's fee is then missing, or where the wallet can pay that by itself. All
 * else needs ether of the gas tank.
 *
 * @returns undefined where it can pay
 */
export function coverMoves(
  facts: GasFacts,
  limits: GasLimits,
  { keyRef, native, fees, moved }: SignedMoves,
): CoverStep | undefined {
  const left = native - moved;
  if (left >= fees) return undefined;
  // It has to offer an eighth more, and more where fees have risen since.
  const raised = (fees * 5n) / 4n;
  const fill = raised > facts.fees.plain ? raised : facts.fees.plain;
  if (moved > 0n && (left < 0n || native >= fill)) return { do: 'fill', isTaken: left < 0n };
  // What is moved is no ether for fees, and may be above the ceiling.
  return giveGas(facts, limits, { to: keyRef, native: left, needed: fees });
}

function giveGas(
  facts: GasFacts,
  limits: GasLimits,
  { to, native, needed }: { to: 'owner' | RotatedKeyRef; native: bigint; needed: bigint },
): RotationStep {
  const missing = needed - native;
  const room = least(limits.gasCeiling - native, limits.gasCeiling - (limits.given.get(to) ?? 0n));
  if (missing > room) return wait('gas_ceiling');
  // A quarter more, as fees rise while it is on its way; and never less than sending it may cost, or a quarter of what was given: who
  // takes so little each time that another top-up is wanted has only some forty of them.
  const given = limits.given.get(to) ?? 0n;
  const wanted = least(largestOf([(missing * 5n) / 4n, facts.fees.plain, given / 4n]), room);
  const { tank, fees } = facts;
  const { topUps } = limits;
  const { amount, waitsFor } = boundTopUp({ tank, topUps, fee: fees.plain }, { asked: wanted, missing });
  if (waitsFor !== undefined) return wait(waitsFor);
  return fromTank(facts, limits, { kind: 'gas', amount, to }, amount + facts.fees.plain);
}

const least = (a: bigint, b: bigint) => (a < b ? a : b);

function fromTank(
  { tank }: GasFacts,
  { tankSpending, held }: Pick<GasLimits, 'tankSpending' | 'held'>,
  movement: Extract<Movement, { kind: 'gas' | 'account' }>,
  cost: bigint,
): RotationStep {
  // Another one would take a sequence of the tank and be filled, each time.
  if (held.has('tank')) return wait('held');
  if (tank.native - tankSpending < cost) return wait('tank_low');
  return { do: 'move', by: 'tank', movement };
}
