import { NETWORKS } from '@florin/contract/money';
import Type from 'typebox';
import {
  addRiskAddress,
  listRiskAddresses,
  removeRiskAddress,
  riskAddressOf,
} from '../../chains/addresses/index.ts';
import { Fail, invalidParam } from '../../platform/fail.ts';
import { defineRoute, type Route } from '../../platform/http/index.ts';
import { withCsv } from '../../platform/http/lists/index.ts';
import type { ConsoleDeps } from '../accounts/index.ts';
import { DONE, Done, needs, Text } from './own.ts';

const PATH = '/console/api/operator/risk-list';
const PAGE_MAX = 100;
const common = { scope: 'read' as const, tag: 'Operator' };
const Address = { network: Text(16), address: Text(256) };

const listRoute = (db: ConsoleDeps['db']): Route =>
  withCsv(
    defineRoute({
      ...common,
      method: 'GET',
      path: PATH,
      operationId: 'listRiskAddresses',
      summary: 'The risk list by network and address',
      permission: needs('see_installation'),
      query: Type.Object({
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: PAGE_MAX })),
        starting_after: Type.Optional(
          Type.String({
            maxLength: 300,
            description: 'Network and address of the last entry of the page before.',
          }),
        ),
        address: Type.Optional(Type.String({ maxLength: 256, description: 'This one alone.' })),
      }),
      answer: Type.Object({
        data: Type.Array(
          Type.Object({ network: Type.String(), address: Type.String(), reason: Type.String() }),
        ),
        has_more: Type.Boolean(),
      }),
      refusals: [],
      handle: async ({ query: { limit = PAGE_MAX, starting_after: text, address } }) => {
        const [network = '', last = ''] = text?.split(' ') ?? [];
        const on = NETWORKS.find((known) => known === network);
        if (text !== undefined && on === undefined)
          throw invalidParam('starting_after', 'starting_after must be a network and an address.');
        const after = on === undefined ? undefined : { network: on, address: last };
        const rows = await listRiskAddresses(db, { limit: limit + 1, after, address });
        return { body: { data: rows.slice(0, limit), has_more: rows.length > limit } };
      },
    }),
    'network',
    'address',
  );

/** Addresses that get nothing and whose money is seized, of the whole installation: as `florin risk` has them. */
export const riskRoutes = ({ db, clock }: Pick<ConsoleDeps, 'db' | 'clock'>): Route[] => [
  listRoute(db),
  defineRoute({
    ...common,
    method: 'POST',
    path: PATH,
    operationId: 'addRiskAddress',
    summary: 'Put an address on the risk list, or give it another reason; it counts at once, on every node',
    permission: needs('operate', true),
    body: Type.Object({ ...Address, reason: Text(500) }),
    answer: Done,
    refusals: [],
    handle: async ({ body: { network, address, reason } }) => {
      await addRiskAddress(db, { ...riskAddressOf(network, address), reason }, clock.nowMs());
      return DONE;
    },
  }),
  defineRoute({
    ...common,
    method: 'POST',
    path: `${PATH}/remove`,
    operationId: 'removeRiskAddress',
    summary: 'Take an address off the risk list; what was seized stays seized',
    permission: needs('operate', true),
    body: Type.Object(Address),
    answer: Done,
    refusals: ['conflict'],
    handle: async ({ body: { network, address: text } }) => {
      const { network: on, address } = riskAddressOf(network, text);
      if (await removeRiskAddress(db, on, address)) return DONE;
      throw new Fail('conflict', `${address} is not on the risk list of ${on}.`);
    },
  }),
];
