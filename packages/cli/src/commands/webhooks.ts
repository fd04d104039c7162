import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { type Credentials, findCredentials } from '../credentials.ts';
import { examples } from '../examples.ts';
import { attempt, wrongUsage } from '../failure.ts';
import { DATA_DIR } from '../merchant.ts';
import { print, toJson, wantsJson } from '../show.ts';
import { cell } from '../table.ts';
import { note } from '../terminal.ts';
import { diagnose, type Finding } from '../webhook-debug/diagnose.ts';
import { type GivenRequest, readHeaders, readWhole } from '../webhook-debug/read-request.ts';

const STANDARD_INPUT = 0;
const REFUSED = 1;
const CREDENTIALS_NAME = 'the Secret Key of your credentials';

interface DebugFlags {
  headers?: string;
  body?: string;
  secret?: string;
  secretFile?: string;
  at?: string;
  dataDir?: string;
}

const readBytes = (file: string | typeof STANDARD_INPUT) =>
  attempt('file', 'It cannot be read', () => readFileSync(file));

function readRequest({ headers, body }: DebugFlags): GivenRequest {
  if (headers !== undefined && body !== undefined) {
    return { headers: readHeaders(readBytes(headers).toString('utf8')), body: readBytes(body) };
  }
  if (headers !== undefined || body !== undefined) throw wrongUsage('--headers and --body go together.');
  const isTyped = process.stdin.isTTY;
  if (isTyped) note('Paste the headers, an empty line and the body; then Enter and Ctrl-D.');
  const whole = readWhole(readBytes(STANDARD_INPUT));
  // The line break before Ctrl-D is not part of the pasted body.
  return isTyped ? { ...whole, body: withoutLineBreak(whole.body) } : whole;
}

const withoutLineBreak = (body: Buffer) => (body.at(-1) === 0x0a ? body.subarray(0, -1) : body);

interface Secrets {
  secrets: string[];
  others: { value: string; name: string }[];
}

function findSecrets({ secret, secretFile, dataDir }: DebugFlags): Secrets {
  if (secret !== undefined && secretFile !== undefined)
    throw wrongUsage('Give one of --secret and --secret-file.');
  const given =
    secretFile === undefined
      ? secret
      : readBytes(secretFile)
          .toString('utf8')
          .replace(/\r?\n$/, '');
  if (given === undefined) return { secrets: [findCredentials(process.env, dataDir).secretKey], others: [] };
  if (given.trim() === '') throw wrongUsage('The secret is empty.');
  const own = credentialsIfAny(dataDir);
  return { secrets: [given], others: own ? [{ value: own.secretKey, name: CREDENTIALS_NAME }] : [] };
}

/** Falls back to the given secret. */
function credentialsIfAny(dataDir: string | undefined): Credentials | undefined {
  try {
    return findCredentials(process.env, dataDir);
  } catch {
    return undefined;
  }
}

/** Unix seconds, or a time as ISO 8601 writes it. */
function readTime(text: string | undefined): number {
  if (text === undefined) return Math.floor(Date.now() / 1000);
  const ms = /^\d{1,12}$/.test(text) ? Number(text) * 1000 : Date.parse(text);
  if (Number.isNaN(ms)) throw wrongUsage('--at takes Unix seconds or a time such as 2026-11-21T10:00:00Z.');
  return Math.floor(ms / 1000);
}

const markOf = (ok: boolean | null) => (ok === null ? '–' : ok ? '✓' : '✗');

function printFindings(findings: readonly Finding[]): void {
  const width = Math.max(...findings.map(({ name }) => name.length));
  for (const { step, name, ok, reason, advice } of findings) {
    print(`${markOf(ok)} ${step}  ${name.padEnd(width)}  ${cell(reason)}`);
    if (advice !== null) print(`${' '.repeat(width + 6)}→ ${cell(advice)}`);
  }
}

function debug(flags: DebugFlags, self: Command): void {
  const receivedAt = readTime(flags.at);
  const { secrets, others } = findSecrets(flags);
  const findings = diagnose({ request: readRequest(flags), secrets, others, receivedAt });
  const isValid = findings.every(({ ok }) => ok === true);
  if (wantsJson(self)) print(toJson({ valid: isValid, steps: findings }));
  else {
    printFindings(findings);
    print(isValid ? '\nThis webhook is valid.' : '\nThis webhook is refused.');
  }
  if (!isValid) process.exitCode = REFUSED;
}

export function addWebhooks(program: Command): void {
  const group = program.command('webhooks').description('Help with receiving webhooks');
  examples(group, ['florin webhooks debug --headers headers.txt --body body.json']);
  const command = group
    .command('debug')
    .description('Show which verification step a webhook fails, and why. Exit code 0: valid; 1: refused.')
    .option('--headers <file>', 'its headers: lines "Name: value", or JSON')
    .option('--body <file>', 'its body, byte for byte')
    .option('--secret-file <file>', 'the Secret Key to verify with, in a file')
    .option(
      '--secret <key>',
      'the Secret Key itself; everybody on this machine can see it while the command runs',
    )
    .option('--at <time>', 'when the webhook came: Unix seconds or 2026-11-21T10:00:00Z; else now')
    .option(...DATA_DIR)
    .action(debug);
  command.addHelpText(
    'after',
    `
Without --headers and --body it reads a whole request from standard input: headers, an empty line, the body.
Without a secret it takes that of FLORIN_SECRET_KEY (with FLORIN_BASE_URL and FLORIN_API_KEY), else of sandbox.json.`,
  );
  examples(command, [
    'florin webhooks debug --headers headers.txt --body body.json',
    'florin webhooks debug < request.txt',
    'florin webhooks debug --headers headers.json --body body.json --at 2026-11-21T10:00:00Z --json',
  ]);
}
