// npm run faults -- --seed 7 --rounds 50 [--verbose] [--json]: breaks everything in the order that the seed stands for,
// under load, and judges what is left. The same seed plays the same rounds again.
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { runSeed, type Verdict } from '../test/faults/seeded-run.ts';

const SEED_MAX = 2 ** 32;
const ROUNDS = 20;

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    rounds: { type: 'string', default: String(ROUNDS) },
    verbose: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});
const seed = values.seed === undefined ? randomInt(SEED_MAX) : Number(values.seed);
const rounds = Number(values.rounds);
if (!Number.isSafeInteger(seed) || seed < 0 || !Number.isSafeInteger(rounds) || rounds < 1) {
  console.error('--seed takes a whole number from 0, --rounds one from 1');
  process.exit(2);
}

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
  onRound: (line) => {
    if (values.verbose) say(line);
    else if (!values.json) process.stdout.write('.');
  },
});
if (values.json) console.log(JSON.stringify(verdict));
say('');
for (const [name, value] of table(verdict)) say(`${name.padEnd(26)}${value}`);
for (const { invariant, what } of verdict.findings) say(`${invariant}: ${what}`);
if (verdict.findings.length > 0) say(`replay with: npm run faults -- --seed ${seed} --rounds ${rounds}`);
process.exitCode = verdict.findings.length === 0 ? 0 : 1;
