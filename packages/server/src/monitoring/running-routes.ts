import Type from 'typebox';
import { isoOf } from '../platform/db/index.ts';
import { defineRoute, type Route } from '../platform/http/index.ts';
import type { Running, RunningNetwork } from './running.ts';

const Height = Type.Union([Type.Integer(), Type.Null()]);
const Problem = Type.Union([Type.String(), Type.Null()]);

const RunningSchema = Type.Object({
  at: Type.Union([Type.String(), Type.Null()]),
  networks: Type.Array(
    Type.Object({
      network: Type.String(),
      name: Type.String({ description: 'Of the networks file.' }),
      status: Type.String({
        enum: ['ok', 'late', 'away'],
        description: '`late`: its newest block is older than a minute; `away`: no height can be believed.',
      }),
      height: Height,
      final_height: Height,
      blocks_not_final: Height,
      lag_seconds: Type.Union([Type.Integer(), Type.Null()], {
        description: 'Since its newest block was made.',
      }),
      problem: Problem,
      endpoints: Type.Array(
        Type.Object({
          host: Type.String(),
          own: Type.Boolean({ description: "The operator's own node: its word alone is enough." }),
          height: Height,
          blocks_behind: Type.Union([Type.Integer(), Type.Null()], {
            description: 'Behind the endpoint that is furthest.',
          }),
          problem: Problem,
        }),
      ),
    }),
    { description: 'Of real money; empty where the installation has none.' },
  ),
  processes: Type.Array(
    Type.Object({
      version: Type.String(),
      machine: Type.String(),
      pid: Type.String(),
      workers: Type.Integer({ description: 'That run jobs in it.' }),
    }),
    { description: 'Of the service, by their connections to the database.' },
  ),
  signer: Type.Union([
    Type.Object({ version: Type.Union([Type.String(), Type.Null()]), problem: Problem }),
    Type.Null(),
  ]),
});

const numberOf = (height: bigint | null) => (height === null ? null : Number(height));

/** A network as the console and `florin networks heights` show it. */
export const presentRunning = ({ head, furthest, ...one }: RunningNetwork) => ({
  network: one.network,
  name: one.name,
  status: one.pulse,
  height: numberOf(head?.height ?? null),
  final_height: numberOf(head?.finalHeight ?? null),
  blocks_not_final: head === null ? null : Number(head.height - head.finalHeight),
  lag_seconds: one.lagSeconds,
  problem: one.problem,
  endpoints: one.endpoints.map(({ host, isOwn, height, problem }) => ({
    host,
    own: isOwn,
    height: numberOf(height),
    blocks_behind: height === null || furthest === null ? null : Number(furthest - height),
    problem,
  })),
});

const presentSigner = (signer: Running['signer']) => {
  if (signer === null) return null;
  if (typeof signer === 'string') return { version: null, problem: signer };
  const { version, frozenFor } = signer;
  return { version, problem: frozenFor === null ? null : `It is frozen: ${frozenFor}` };
};

/** What runs, for the operator and auditors. */
export const runningRoute = ({ readRunning }: { readRunning: () => Promise<Running> }): Route =>
  defineRoute({
    scope: 'read',
    tag: 'Operator',
    method: 'GET',
    path: '/console/api/operator/running',
    operationId: 'retrieveRunning',
    summary: 'Heights and endpoints of the networks of real money, and versions of what runs',
    permission: { name: 'see_installation' },
    answer: RunningSchema,
    refusals: [],
    handle: async () => {
      const { atMs, networks, processes, signer } = await readRunning();
      return {
        body: {
          at: isoOf(atMs),
          networks: networks.map(presentRunning),
          processes,
          signer: presentSigner(signer),
        },
      };
    },
  });
