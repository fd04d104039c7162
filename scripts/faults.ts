import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { ACTIONS, type Action } from '../test/faults/seeded-plan.ts';
import { runSeed, type Verdict } from '../test/faults/seeded-run.ts';

const USAGE = `npm run faults -- [options]
  Breaks everything under load, in the order that the seed stands for: processes and the database are killed, lines
  cut, commits lost, requests replayed, clocks moved. Then judges what is left. A round takes some 7 seconds.

  --seed <n>     0 to 4294967295; the same seed plays the same rounds again (another one each time)
  --rounds <n>   how many (20)
  --only <list>  what may go wrong, by names with commas between: ${ACTIONS.join(', ')}
  --verbose      says what each round does
  --json         prints nothing but the verdict, as JSON
  --help`;
const SEED_MAX = 2 ** 32;

function stop(message: string): never {
  console.error(`${message}\n\n${USAGE}`);
  process.exit(2);
}

function readOptions() {
  try {
    return parseArgs({
      options: {
        seed: { type: 'string' },
        rounds: { type: 'string', default: '20' },
        only: { type: 'string' },
        verbose: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    return stop(error instanceof Error ? error.message : String(error));
  }
}

const values = readOptions();
if (values.help) {
  console.log(USAGE);
  process.exit(0);
}
const seed = values.seed === undefined ? randomInt(SEED_MAX) : Number(values.seed);
const rounds = Number(values.rounds);
if (!Number.isSafeInteger(seed) || seed < 0 || seed >= SEED_MAX)
  stop('--seed takes a whole number from 0 to 4294967295');
if (!Number.isSafeInteger(rounds) || rounds < 1) stop('--rounds takes a whole number from 1');

const actions = values.only?.split(',').map((name): Action => {
  const action = ACTIONS.find((known) => known === name.trim());
  return action ?? stop(`--only: there is no action "${name}"`);
});
const again = `--seed ${seed} --rounds ${rounds}${values.only === undefined ? '' : ` --only "${values.only}"`}`;

const say = values.json ? () => {} : (line: string) => console.log(line);

function table(verdict: Verdict): [string, string | number][] {
  return [
    ['rounds', verdict.rounds],
    ['processes killed', verdict.kills],
    ['killed at a crash point', verdict.crashes],
    ['database killed', verdict.databaseKills],
    ['lines cut or frozen', verdict.cuts],
    ['cut at COMMIT', verdict.commitCuts],
    ['requests', verdict.requests],
    ['without an answer', verdict.unanswered],
    ['answered 503', verdict.unavailable],
    ['replays refused', verdict.replays],
    ['batches', verdict.batches],
    ['refunds', verdict.refunds],
    ['acknowledged writes', verdict.acknowledged],
    ['webhooks delivered', verdict.webhooks],
    ['attempts beyond the first', verdict.webhookRepeats],
    ['lost', verdict.lost],
    ['duplicates', verdict.duplicates],
    ['ledger minus chain', verdict.ledgerMinusChain],
    ['broken invariants', verdict.findings.length],
    ['seconds', verdict.seconds],
  ];
}

say(`seed ${seed}`);
const verdict = await runSeed({
  seed,
  rounds,
  actions,
  onRound: (line) => {
    if (values.verbose) say(line);
    else if (!values.json) process.stdout.write('.');
  },
});
if (values.json) console.log(JSON.stringify(verdict));
say('');
for (const [name, value] of table(verdict)) say(`${name.padEnd(26)}${value}`);
for (const { invariant, what } of verdict.findings) say(`${invariant}: ${what}`);
if (verdict.findings.length > 0) say(`replay with: npm run faults -- ${again}`);
process.exitCode = verdict.findings.length === 0 ? 0 : 1;
