import { NETWORKS, type Network } from '@florin/contract/money';
import type { NetworkState, OpenedLive, RunningSigner } from '../chains/index.ts';
import { SignerUnavailable } from '../chains/port/index.ts';
import { largestOf } from '../platform/amounts.ts';
import type { Clock, Db } from '../platform/db/index.ts';
import { listProcesses, type RunningProcess } from '../platform/jobs/processes/index.ts';
import { shareReads } from './share-reads.ts';

/** Nodes are asked at most so often, however many pages are open. */
const KEEP_MS = 5_000;
/** As long as nothing is wrong with it, every network has a block within this time. */
const LATE_SECONDS = 60;

export interface RunningDeps {
  db: Db;
  clock: Clock;
  /** Undefined where live money does not move. */
  live: { chains: Pick<OpenedLive, 'readState' | 'ethereum'> } | undefined;
}

/** `away`: no height can be believed; `late`: its newest block is old, as the network stands still or its endpoints do. */
export type NetworkPulse = 'ok' | 'late' | 'away';

export interface RunningNetwork extends NetworkState {
  network: Network;
  pulse: NetworkPulse;
  /** Since the newest block was made; null without one. */
  lagSeconds: number | null;
  /** Of the endpoint that is furthest. */
  furthest: bigint | null;
}

/** What runs: networks of real money as this process sees them, the processes of the service, and the signer. */
export interface Running {
  atMs: number;
  networks: RunningNetwork[];
  processes: RunningProcess[];
  /** Null where live money does not move; a text: why it does not answer. */
  signer: RunningSigner | string | null;
}

function presentNetwork(network: Network, state: NetworkState, nowSeconds: number): RunningNetwork {
  const { head, endpoints } = state;
  const lagSeconds = head === null ? null : Math.max(0, nowSeconds - head.time);
  const heights = endpoints.flatMap(({ height }) => height ?? []);
  return {
    ...state,
    network,
    lagSeconds,
    pulse: lagSeconds === null ? 'away' : lagSeconds > LATE_SECONDS ? 'late' : 'ok',
    furthest: heights.length === 0 ? null : largestOf(heights),
  };
}

async function readSigner(live: RunningDeps['live']): Promise<Running['signer']> {
  if (live === undefined) return null;
  return await live.chains.ethereum.holder.running().catch((error: unknown) => {
    if (error instanceof SignerUnavailable) return error.message;
    throw error;
  });
}

async function readRunning({ db, clock, live }: RunningDeps): Promise<Running> {
  const [states, signer, processes] = await Promise.all([
    Promise.all(NETWORKS.map(async (network) => [network, await live?.chains.readState(network)] as const)),
    readSigner(live),
    listProcesses(db),
  ]);
  const atMs = clock.nowMs();
  const networks = states.flatMap(([network, state]) =>
    state === undefined ? [] : [presentNetwork(network, state, Math.floor(atMs / 1000))],
  );
  return { atMs, networks, processes, signer };
}

/** Reads it at most every 5 s; other callers share the last result. */
export const createRunningReader = (deps: RunningDeps): (() => Promise<Running>) =>
  shareReads(
    () => readRunning(deps),
    () => KEEP_MS,
  );
