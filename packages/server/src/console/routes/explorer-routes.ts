import { NETWORKS } from '@florin/contract/money';
import Type from 'typebox';
import type { ChainRegistry } from '../../chains/index.ts';
import { defineRoute, type Route } from '../../platform/http/index.ts';
import { needs } from './own.ts';

/** Where transactions and addresses of a merchant's networks can be looked up. */
export const explorerRoutes = ({ chains }: { chains: Pick<ChainRegistry, 'facts'> }): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/console/api/merchants/{merchant_id}/explorers',
    operationId: 'listExplorers',
    tag: 'Search',
    summary:
      'Links to the explorers of the networks, as the networks file names them: none for a simulated chain',
    scope: 'read',
    permission: needs('see'),
    params: Type.Object({ merchant_id: Type.String() }),
    answer: Type.Object({
      data: Type.Array(
        Type.Object({
          network: Type.String({ enum: [...NETWORKS] }),
          transaction: Type.String({ description: 'https, with `{tx_id}` in it.' }),
          address: Type.String({ description: 'https, with `{address}` in it.' }),
        }),
      ),
    }),
    refusals: [],
    handle: async ({ caller: { mode } }) => ({
      body: {
        data: NETWORKS.flatMap((network) => {
          const explorer = chains.facts({ mode }, network)?.explorer ?? null;
          return explorer === null ? [] : [{ network, ...explorer }];
        }),
      },
    }),
  }),
];
