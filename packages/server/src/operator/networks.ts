import { ASSETS, formatTokens, NETWORKS, type Network, parseTokens } from '@florin/contract/money';
import type { App } from '../app.ts';
import { checkEndpoints, type EndpointReport, NetworksFileWrong, readNetworksFile } from '../chains/index.ts';
import { readNetworks, type StoppedChain } from '../console/networks/index.ts';
import { openLiveAccount } from '../custody/index.ts';
import { presentRunning } from '../monitoring/index.ts';
import { isoOf } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import { createLogger } from '../platform/observability/index.ts';
import { bookSurplus, fillFloat } from '../reconciliation/index.ts';
import { identifyApprover } from '../stores/approvers/index.ts';
import { encodeId } from '../tenancy/index.ts';
import { changeSetting } from '../tenancy/settings/index.ts';
import type { NetworkStop } from '../transfers/blocks/index.ts';
import { adoptSequence } from '../transfers/history/index.ts';
import { TRANSFER_SETTINGS } from '../transfers/index.ts';
import { type InstallationApprover, merchantBy } from './context.ts';
import { isLiveStop, resumeNetwork } from './resume-network.ts';

export interface NetworksReport {
  file: string;
  ok: boolean;
  /** Of the file itself, one line each. Endpoints are asked only where there is none. */
  mistakes: readonly string[];
  endpoints: EndpointReport[];
}

/** Reads a networks file and asks its endpoints whether they serve what it says. Needs no database. */
export async function checkNetworksFile(file: string, ca?: string): Promise<NetworksReport> {
  try {
    const reports = await checkEndpoints(readNetworksFile(file), { log: createLogger('silent'), ca });
    const mistakes = [...Map.groupBy(reports, ({ network }) => network)].flatMap(([network, own]) =>
      own.length > 1 || own.some(({ own: isOwn }) => isOwn) ? [] : [lonely(network)],
    );
    const isRight = mistakes.length === 0 && reports.every(({ ok }) => ok);
    return { file, ok: isRight, mistakes, endpoints: reports };
  } catch (error) {
    if (!(error instanceof NetworksFileWrong)) throw error;
    return { file, ok: false, mistakes: error.mistakes, endpoints: [] };
  }
}

const lonely = (network: Network) =>
  `networks.${network}.endpoints has one endpoint of somebody else: configure a second one, or mark your own node with "own": true`;

/** @throws Fail if the text is no network */
export function networkBy(text: string): Network {
  const network = NETWORKS.find((known) => known === text);
  if (network !== undefined) return network;
  throw new Fail('invalid_request', {
    message: `The network is one of ${NETWORKS.join(', ')}.`,
    param: 'network',
  });
}

const REFERENCE = /^[!-~](?:[ -~]{0,126}[!-~])?$/;

/** Coins that the operator has sent for a merchant, as typed. */
export interface FillInput {
  network: string;
  currency: string;
  /** In tokens: `100.00`. */
  amount: string;
  reference: string;
}

/** Coins that a stranger has sent, as typed, with the approver who confirms it. */
export interface SurplusInput extends FillInput {
  /** Name of the registered approver. */
  as: string;
  token: string;
}

/** @throws Fail for an invalid currency, amount or reference */
function coinsBy({ currency: text, amount, reference }: FillInput) {
  const invalid = (param: keyof FillInput, message: string) =>
    new Fail('invalid_request', { message, param });
  const currency = ASSETS.find((known) => known === text);
  if (currency === undefined) throw invalid('currency', `The currency is one of ${ASSETS.join(', ')}.`);
  if (!REFERENCE.test(reference)) throw invalid('reference', 'A reference is 1 to 128 printable characters.');
  try {
    const units = parseTokens(amount);
    if (units > 0n) return { currency, amount: units, reference };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  throw invalid('amount', 'The amount is a decimal above 0 with at most six decimals, such as 100.00.');
}

interface NetworkLine {
  network: Network;
  /** `no_early_credit`: deposits wait for final blocks, and sending goes on. */
  status: 'open' | 'stopped' | 'no_early_credit';
  /** Null if it is open, or stopped for all live merchants. */
  merchant_id: string | null;
  stopped_at: string | null;
  /** All causes that were found since, the first one first. */
  reason: string | null;
  /** The lowest block that was found. */
  height: number | null;
  /** Who asks in the console that another operator resumes it. */
  asked_by: string | null;
}

const showStop = (stop: NetworkStop): NetworkLine => ({
  network: stop.network,
  status: stop.what === 'sending' ? 'stopped' : 'no_early_credit',
  merchant_id: isLiveStop(stop) ? null : encodeId('merchant', stop.merchant_id),
  stopped_at: isoOf(Number(stop.stopped_at) * 1000),
  reason: stop.reason,
  height: stop.height === null ? null : Number(stop.height),
  asked_by: null,
});

/** The stops of a network, with who has asked to resume them. */
const showStops = ({ stops, request }: StoppedChain): NetworkLine[] =>
  stops.map((stop) => ({
    ...showStop(stop),
    asked_by: request?.status === 'open' ? request.email : null,
  }));

/** @throws Fail `invalid_request` for a sandbox merchant, whose money is not real */
async function turn(app: App, merchantText: string, networkText: string, isOn: boolean) {
  const network = networkBy(networkText);
  const merchant = await merchantBy(app, merchantText);
  if (merchant.mode === 'sandbox') {
    const message = 'A sandbox merchant sends on every network: only live merchants are turned on and off.';
    throw new Fail('invalid_request', { message, param: 'merchant' });
  }
  if (isOn) await openLiveAccount(app, merchant.merchantId, network);
  const networks = await changeSetting(app.db, merchant, TRANSFER_SETTINGS.liveNetworks, (before) => {
    const others = before.filter((one) => one !== network);
    return isOn ? [...others, network] : others;
  });
  const account = isOn ? app.live?.accounts.find(merchant.merchantId, network) : undefined;
  return {
    merchant_id: encodeId('merchant', merchant.merchantId),
    networks,
    ...(account && { account: account.account, cold_owner: account.coldOwner }),
  };
}

interface HeightLine {
  network: Network;
  /** Null: what the service believes. */
  endpoint: string | null;
  height: number | null;
  final_height: number | null;
  /** Behind the endpoint that is furthest. */
  blocks_behind: number | null;
  /** Since the newest block was made. */
  lag_seconds: number | null;
  found: string;
}

const heightLines = ({ network, endpoints, ...one }: ReturnType<typeof presentRunning>): HeightLine[] => [
  {
    network,
    endpoint: null,
    height: one.height,
    final_height: one.final_height,
    blocks_behind: null,
    lag_seconds: one.lag_seconds,
    found: one.problem ?? one.status,
  },
  ...endpoints.map(({ host, height, blocks_behind, problem }) => ({
    network,
    endpoint: host,
    height,
    final_height: null,
    blocks_behind,
    lag_seconds: null,
    found: problem ?? 'ok',
  })),
];

export function networkCommands(app: App) {
  return {
    /** Every network, with its stops. */
    list: async () => {
      const { chains } = await readNetworks(app);
      return NETWORKS.flatMap((network): NetworkLine[] => {
        const own = chains.filter((chain) => chain.network === network).flatMap(showStops);
        const open: NetworkLine = {
          network,
          status: 'open',
          merchant_id: null,
          stopped_at: null,
          reason: null,
          height: null,
          asked_by: null,
        };
        return own.length > 0 ? own : [open];
      });
    },
    /** How far each network of real money is, then each of its endpoints. */
    heights: async () => {
      const { networks } = await app.readRunning();
      if (networks.length === 0)
        throw new Fail(
          'invalid_request',
          'There is no network of real money: FLORIN_NETWORKS_FILE names them.',
        );
      return networks.map(presentRunning).flatMap(heightLines);
    },
    /** Resumes sending on a network, for all its stops or one merchant's; real money takes two approvers of the installation. */
    resume: async (networkText: string, merchantText?: string, by?: InstallationApprover) => {
      const network = networkBy(networkText);
      const merchant = merchantText === undefined ? undefined : await merchantBy(app, merchantText);
      return await resumeNetwork(app, { network, merchant, by });
    },
    /** Lets a live merchant's payouts and refunds be sent on a network. */
    enable: (merchantText: string, networkText: string) => turn(app, merchantText, networkText, true),
    /** New payouts on it are refused, and those under way and refunds wait. */
    disable: (merchantText: string, networkText: string) => turn(app, merchantText, networkText, false),
    /** Books coins that the operator has sent to replace a reorganisation's loss. */
    fill: async (input: FillInput, merchantText?: string) => {
      const network = networkBy(input.network);
      const { currency, amount, reference } = coinsBy(input);
      const merchant = await merchantBy(app, merchantText);
      const { missing, ...filled } = await fillFloat(
        app,
        { merchant, network },
        { currency, amount, reference },
      );
      const merchant_id = encodeId('merchant', merchant.merchantId);
      const tokens = { amount: formatTokens(amount), still_missing: formatTokens(missing) };
      return { ...filled, merchant_id, network, currency, ...tokens, reference };
    },
    /** Votes to book coins that a stranger sent to the hot wallet; a second approver's vote books them. */
    bookSurplus: async (input: SurplusInput, merchantText?: string) => {
      const network = networkBy(input.network);
      const coins = coinsBy(input);
      const merchant = await merchantBy(app, merchantText);
      const credentials = { name: input.as, token: input.token };
      const { approverId } = await identifyApprover(app, merchant.merchantId, credentials);
      const vote = { ...coins, approverId };
      const { isDone: done, ...booked } = await bookSurplus(app, { merchant, network }, vote);
      const merchant_id = encodeId('merchant', merchant.merchantId);
      const { currency, amount, reference } = coins;
      return { ...booked, done, merchant_id, network, currency, amount: formatTokens(amount), reference };
    },
    /** Lets a wallet that was used elsewhere send again, after `ledger verify` has shown the effect. */
    adoptSequence: async (networkText: string, merchantText?: string) => {
      const network = networkBy(networkText);
      const merchant = await merchantBy(app, merchantText);
      const adopted = await adoptSequence(app, merchant, network);
      return { merchant_id: encodeId('merchant', merchant.merchantId), network, adopted };
    },
  };
}
