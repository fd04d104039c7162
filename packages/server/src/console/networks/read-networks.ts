import { NETWORKS, type Network } from '@florin/contract/money';
import { NIL_ID } from '../../platform/db/ids/index.ts';
import type { Db } from '../../platform/db/index.ts';
import { listMerchants } from '../../stores/index.ts';
import { listStops, type NetworkStop } from '../../transfers/blocks/index.ts';
import { type ConsoleDeps, users } from '../accounts/index.ts';
import { expiresAtMsOf, type RequestStatus, statusOf } from './decide.ts';
import { digestOf, listRequests } from './resume-requests.ts';

interface ShownRequest {
  requestId: string;
  requestedBy: string;
  email: string;
  reason: string;
  createdAtMs: number;
  expiresAtMs: number;
  status: RequestStatus;
}

/** A chain on which something is stopped. */
export interface StoppedChain {
  network: Network;
  /** Null: that of all live merchants. */
  merchant: { merchantId: string; name: string } | null;
  stops: NetworkStop[];
  /** Digest of the stops, for who decides about them. */
  seen: string;
  request: ShownRequest | null;
}

async function showRequest(db: Db, network: Network, present: Parameters<typeof statusOf>[1]) {
  const request = (await listRequests(db)).find((one) => one.network === network);
  if (request === undefined) return null;
  const { email } = await users.getUser(db, request.requestedBy);
  return { ...request, email, expiresAtMs: expiresAtMsOf(request), status: statusOf(request, present) };
}

/** What is stopped on each network, and who has asked to resume it. */
export async function readNetworks({ db, clock }: Pick<ConsoleDeps, 'db' | 'clock'>) {
  const nowMs = clock.nowMs();
  const stops = await listStops(db);
  const operators = await users.listOperators(db);
  const names = new Map(
    (stops.some(({ merchant_id: chain }) => chain !== NIL_ID) ? await listMerchants(db) : []).map(
      ({ merchantId, name }) => [merchantId, name],
    ),
  );
  const chains: StoppedChain[] = [];
  for (const network of NETWORKS) {
    const own = Map.groupBy(
      stops.filter((stop) => stop.network === network),
      ({ merchant_id: chain }) => chain,
    );
    for (const [merchantId, found] of own) {
      const seen = digestOf(found);
      const isLive = merchantId === NIL_ID;
      chains.push({
        network,
        merchant: isLive ? null : { merchantId, name: names.get(merchantId) ?? '' },
        stops: found,
        seen,
        request: isLive ? await showRequest(db, network, { seen, operators, nowMs }) : null,
      });
    }
  }
  return { chains, operators: operators.size };
}
