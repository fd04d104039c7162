/** A row of design goals: what is measured, what is aimed at, and what fails the run. */
export interface RowDefinition {
  title: string;
  unit: '' | 's' | 'ms' | 'MB';
  better: 'higher' | 'lower';
  goal: number;
  /** The worst value that still passes. */
  floor: number;
}

const ratio = (
  title: string,
  better: 'higher' | 'lower',
  [goal, floor]: [number, number],
): RowDefinition => ({
  title,
  unit: '',
  better,
  goal,
  floor,
});

const seconds = (title: string, [goal, floor]: [number, number]): RowDefinition => ({
  title,
  unit: 's',
  better: 'lower',
  goal,
  floor,
});

const CREATE = 'create payout batch, requests/s against pgbench with the same SQL';
const LIST = 'subscription list, p99 in 5,000,000 rows against 10,000 rows';
const PAYMENTS = 'payment list, p99 in 5,000,000 rows against 10,000 rows';
const DRAIN = 'jobs drained/s';
const REQUEST_LOG = 'CPU of a request, server and PostgreSQL, with the request log against without it';
const WEBHOOKS = 'webhooks/s with full bookkeeping against bare signed posts';

/** Why some floors are not those set with the prototypes: docs/decisions/0012 and 0016. */
export const ROWS = {
  '1': ratio(`${CREATE}: 200 items`, 'higher', [0.8, 0.33]),
  '2a': ratio(`${CREATE}: 10 items`, 'higher', [0.65, 0.32]),
  '2b': ratio(`${CREATE}: 1 item`, 'higher', [0.45, 0.28]),
  '3': ratio('items/s in batches of 200 against requests of 1 item', 'higher', [30, 20]),
  '4': ratio('CPU of a signed, validated request of 200 items against its JSON alone', 'lower', [1.6, 2.2]),
  '5a': ratio(`${LIST}: all`, 'lower', [1.2, 1.6]),
  '5b': ratio(`${LIST}: by status`, 'lower', [1.2, 1.6]),
  '5c': ratio(`${LIST}: by customer`, 'lower', [1.2, 1.6]),
  '5d': ratio(`${LIST}: by customer and status`, 'lower', [1.2, 1.6]),
  '5e': ratio('list of 100 subscriptions over HTTP against its query, p50', 'lower', [1.3, 3]),
  '6a': ratio(`${DRAIN}, 1 merchant, against graphile-worker with localQueue`, 'higher', [2.5, 1.3]),
  '6b': ratio(`${DRAIN}, 1,000 merchants, against graphile-worker with localQueue`, 'higher', [2.5, 1.3]),
  '6c': ratio(`${DRAIN}, 1 merchant, against pg-boss in batches`, 'higher', [5, 1.3]),
  '6d': ratio(`${DRAIN}, 1,000 merchants, against pg-boss in batches`, 'higher', [5, 1]),
  '7': ratio('idle enqueue-to-start p50 against graphile-worker', 'lower', [0.5, 1]),
  '8a': seconds('kill -9 of a worker until another takes its job over', [1, 6]),
  '8b': { title: 'jobs lost by killed and frozen workers', unit: '', better: 'lower', goal: 0, floor: 0 },
  '8c': { title: 'completions accepted twice', unit: '', better: 'lower', goal: 0, floor: 0 },
  '9a': ratio(`${WEBHOOKS}: 100 origins`, 'higher', [0.95, 0.33]),
  '9b': ratio(`${WEBHOOKS}: 1,000 origins`, 'higher', [0.8, 0.45]),
  '9c': ratio('webhooks/s of 90 endpoints beside 10 that hang, against 90 alone', 'higher', [0.95, 0.8]),
  '10a': ratio('renewals/s of 1 merchant against pgbench with the same SQL', 'higher', [0.6, 0.4]),
  '10b': ratio('renewals/s of 1 merchant against many merchants', 'higher', [0.8, 0.4]),
  '10c': ratio('p99 of the list of subscriptions beside renewals, against idle', 'lower', [2, 2]),
  '11': {
    title: 'commit of a change to the first byte of its webhook, p50, idle',
    unit: 'ms',
    better: 'lower',
    goal: 15,
    floor: 60,
  },
  '12a': seconds('start of the installed sandbox on existing data until ready', [1, 3]),
  '12b': {
    title: 'memory of the installed sandbox, idle',
    unit: 'MB',
    better: 'lower',
    goal: 120,
    floor: 130,
  },
  '12c': {
    title: 'growth of the memory of the Node process in an hour of load',
    unit: 'MB',
    better: 'lower',
    goal: 0,
    floor: 20,
  },
  '12d': seconds('florin --help, as it is installed', [0.15, 0.4]),
  '12e': seconds("processor time of an operator's command, as it is installed", [0.5, 1.4]),
  '13a': ratio(
    'create checkout session, requests/s against pgbench with the same SQL',
    'higher',
    [0.45, 0.28],
  ),
  '13b': ratio(
    'deposits credited/s, 10,000 open addresses, against none but those that are paid',
    'higher',
    [0.9, 0.6],
  ),
  '13c': ratio('a scan that finds nothing, 10,000 open addresses, against 10', 'lower', [1.1, 1.6]),
  '13d': ratio('processors that 1,000 merchants with an unpaid session each keep busy', 'lower', [0.5, 1]),
  '14': {
    title: 'memory of 1,000 open pages of payers, each followed live',
    unit: 'MB',
    better: 'lower',
    goal: 75,
    floor: 150,
  },
  '15a': seconds('verify the books of 1,000,000 ledger entries', [15, 30]),
  '15b': {
    title: 'memory that takes beyond that of 10,000 entries',
    unit: 'MB',
    better: 'lower',
    goal: 16,
    floor: 30,
  },
  '16a': ratio(`${PAYMENTS}: all`, 'lower', [1.2, 1.6]),
  '16b': ratio(`${PAYMENTS}: by a rare status`, 'lower', [1.2, 1.6]),
  '16c': ratio(`${PAYMENTS}: by order`, 'lower', [1.3, 2]),
  '16d': ratio(`${PAYMENTS}: by exception`, 'lower', [1.2, 1.6]),
  '17a': seconds('1,000,000 payments as CSV', [120, 300]),
  '17b': {
    title: 'memory of the API node that takes beyond that of 100,000 payments',
    unit: 'MB',
    better: 'lower',
    goal: 20,
    floor: 40,
  },
  '18a': ratio('gas of a payout of 200 items in USDT', 'lower', [6_300_000, 6_300_000]),
  '18b': ratio('gas of a payout of 200 items in USDC', 'lower', [6_600_000, 6_600_000]),
  '18c': ratio('gas of each of eight sweeps in one transaction', 'lower', [37_000, 37_000]),
  '18d': seconds('payout of 200 items on Ethereum, from submit to broadcast', [2, 4]),
  '18e': ratio('calls of the node while idle, 200 merchants against 1', 'lower', [1.1, 1.2]),
  '18f': ratio('calls of the node while idle, 10,000 addresses against 10', 'lower', [1.1, 1.2]),
  '18g': ratio('scans until 1,000 deposits of ten final blocks are credited', 'lower', [1, 1]),
  '18h': ratio('signatures/s of the signer with its journal on disk', 'higher', [100, 100]),
  '19a': ratio(
    'mails/s of a worker against the same conversations without rows and jobs',
    'higher',
    [0.7, 0.3],
  ),
  '19b': ratio(
    'create checkout session, requests/s beside mails as fast as they go, against none',
    'higher',
    [0.8, 0.4],
  ),
  '20a': ratio('gas of the first charge of a mandate', 'lower', [142_000, 142_000]),
  '20b': ratio('gas of each later charge', 'lower', [119_000, 119_000]),
  '20c': ratio('calls of the node to read the health of 1,000 mandates', 'lower', [10, 10]),
  '20d': ratio('blocks until 200 charges that are due at once are final', 'lower', [30, 30]),
  '21a': ratio(`${REQUEST_LOG}: payout batch of 200 items`, 'lower', [1.05, 1.08]),
  '21b': ratio(`${REQUEST_LOG}: payout batch of 10 items`, 'lower', [1.05, 1.08]),
  '21c': ratio(`${REQUEST_LOG}: payout batch of 1 item`, 'lower', [1.05, 1.08]),
  '21d': ratio(`${REQUEST_LOG}: checkout session`, 'lower', [1.05, 1.08]),
  '22a': {
    title: 'page of the payment list in 5,000,000 rows, p99',
    unit: 'ms',
    better: 'lower',
    goal: 60,
    floor: 120,
  },
  '22b': {
    title: 'search for what one of 5,000,000 payments is known by, p99',
    unit: 'ms',
    better: 'lower',
    goal: 150,
    floor: 300,
  },
  '22c': seconds('console opened without a cache until its list stands there, on loopback', [0.5, 1]),
  '22d': seconds('a fresh sandbox of npm start, from ready until its first day is made', [5, 10]),
  '22e': ratio(
    'first start of a sandbox until ready, with a first day to make against none',
    'lower',
    [1.05, 1.25],
  ),
  '23a': ratio('transactions of 200 payouts to new Solana accounts', 'lower', [26, 26]),
  '23b': seconds('these payouts, from submit to the broadcast of the last transaction', [5, 10]),
  '23c': seconds('200 payouts on Tron, from submit to the broadcast of the last one', [10, 20]),
  '23d': ratio('calls of the node for them beside broadcasts', 'lower', [5, 20]),
  '23e': ratio('calls of the Tron node for each block while nobody pays, 200 merchants', 'lower', [1.2, 1.5]),
  '23h': ratio('calls of the Tron node for each block while nobody pays, 1 merchant', 'lower', [1.2, 1.5]),
  '23f': ratio(
    'calls of the Solana node in a look at 500 open sessions, 10,000 closed ones',
    'lower',
    [13, 20],
  ),
  '23g': seconds('start of the three test nodes with contracts', [8, 16]),
} satisfies Record<string, RowDefinition>;
export type RowId = keyof typeof ROWS;

/** What was measured of one row. */
export interface Measured {
  row: RowId;
  /** One value a round. */
  values: number[];
  /** The measured numbers behind the values, each with its unit, for the JSON. */
  raw?: Record<string, number[]>;
  /** What a reader of the number has to know. */
  note?: string;
}

/** A row that could not be measured, and why. */
export interface Missing {
  row: RowId;
  missing: string;
}
export type RowResult = Measured | Missing;

/** What an experiment finds beside its rows, told as a sentence. */
export interface Findings {
  results: RowResult[];
  remarks: string[];
}

export interface RunOptions {
  /** Rows that were asked for; an experiment leaves out what serves none of them. */
  wanted: ReadonlySet<RowId>;
  /** Interleaved rounds of every setting. */
  rounds: number;
  /** Shorter rounds, for development: the numbers are rough. */
  quick: boolean;
  /** Folder for CPU profiles of the measured processes. */
  profileDir?: string | undefined;
  log: (line: string) => void;
}
