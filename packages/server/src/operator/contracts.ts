import type { App } from '../app.ts';
import type { LiveEthereum } from '../chains/index.ts';
import { ChainUnavailable } from '../chains/port/index.ts';
import { Fail } from '../platform/fail.ts';
import { listMerchants } from '../stores/index.ts';
import { encodeId } from '../tenancy/index.ts';

export type ContractReport = Awaited<ReturnType<LiveEthereum['verifyContracts']>>[number];

/** One contract of ours, and what to do about it. */
export interface ContractLine {
  contract: ContractReport['contract'];
  network: 'erc20';
  /** Null: of the whole installation. */
  merchant_id: string | null;
  address: string;
  /** `not_yet`: the merchant's first sweep deploys it, or it is for subscriptions, which may not be wanted. */
  status: 'ok' | 'not_yet' | 'missing' | 'differs';
  /** Null where nothing is to be done. */
  advice: string | null;
  /** A transaction from any wallet that deploys it; null unless it is missing. */
  deploy: { to: string; data: string } | null;
}

export const NO_LIVE =
  'There is no network with real money here: set FLORIN_NETWORKS_FILE and FLORIN_SIGNER, as the server has them.';

/** Status and advice of a contract. Pure. */
export function judgeContract(report: ContractReport): Pick<ContractLine, 'status' | 'advice'> {
  const { contract, address, isConfigured, code, expected } = report;
  const field = `contracts.${contract} of the networks file`;
  if (contract === 'sweep_delegate') {
    if (code === 'none') return { status: 'not_yet', advice: null };
    if (code === 'same') return { status: 'ok', advice: null };
    return { status: 'differs', advice: 'Its code is not ours: stop sweeping, and find out what it is.' };
  }
  // The signer computes the sweeper's address and calls no other one.
  const isElsewhere = contract === 'sweeper' && address !== expected.address;
  if (isElsewhere) {
    const advice = `It is not the sweeper of this gas tank: put ${expected.address} into ${field}.`;
    return { status: 'differs', advice };
  }
  if (code === 'differs')
    return { status: 'differs', advice: `Its code is not ours: put ${expected.address} into ${field}.` };
  if (code === 'none') {
    const isWanted = contract !== 'collector' || isConfigured;
    const deploy = 'run florin contracts deploy, or send the transaction that --json shows from any wallet';
    const advice =
      address === expected.address
        ? `Not on this chain${isWanted ? '' : ', and needed for subscriptions'}: ${deploy}${isConfigured ? '' : `, then put it into ${field}`}.`
        : `Not on this chain: put ${expected.address} into ${field}, and where it is missing there too, ${deploy}.`;
    return { status: isWanted ? 'missing' : 'not_yet', advice };
  }
  if (isConfigured) return { status: 'ok', advice: null };
  return { status: 'missing', advice: `On the chain, and null in the networks file: put it into ${field}.` };
}

/** Our contracts on the chains of real money. */
export function contractCommands(app: Pick<App, 'db' | 'live'>) {
  return {
    /** @throws Fail `service_unavailable` while the network or the signer is away */
    verify: async (): Promise<ContractLine[]> => {
      if (app.live === undefined) throw new Fail('invalid_request', NO_LIVE);
      const { ethereum, accounts } = app.live;
      const live = (await listMerchants(app.db)).filter(({ mode }) => mode === 'live');
      const known = live.flatMap(({ merchantId }) => accounts.find(merchantId, 'erc20') ?? []);
      try {
        const reports = await ethereum.verifyContracts(known);
        return reports.map((report): ContractLine => {
          const { contract, merchantId, address, code, expected } = report;
          const { deployer: to, data } = expected;
          return {
            contract,
            network: 'erc20',
            merchant_id: merchantId === null ? null : encodeId('merchant', merchantId),
            address,
            ...judgeContract(report),
            deploy: code === 'none' && contract !== 'sweep_delegate' ? { to, data } : null,
          };
        });
      } catch (error) {
        if (!(error instanceof ChainUnavailable)) throw error;
        const message = `The contracts cannot be compared: ${error.message}.`;
        throw new Fail('service_unavailable', { message, cause: error });
      }
    },
  };
}
