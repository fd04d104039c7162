import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Config, RunningSandbox } from '@florin/server/operator';
import { shellQuote } from './shell-quote.ts';

/** An ordinary Ethereum address that every check accepts. */
const RECIPIENT = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const BATCH = { currency: 'USDT', items: [{ network: 'erc20', address: RECIPIENT, amount: '12.50' }] };

/** How to call this command from the current directory. */
function ownName(): string {
  const linked = path.resolve('node_modules', '.bin', 'florin');
  return existsSync(linked) ? 'npx florin' : `node ${shellQuote(path.resolve(process.argv[1] ?? 'florin'))}`;
}

function nextStep(config: Config): string {
  const isDefault = path.resolve(config.dataDir) === path.resolve('.florin');
  const folder = isDefault ? '' : ` --data-dir ${shellQuote(path.resolve(config.dataDir))}`;
  const body = shellQuote(JSON.stringify(BATCH));
  return `${ownName()} sign POST /api/v1/payout-batches${folder} --data ${body} | sh`;
}

function whereData(config: Config, sandbox: RunningSandbox): string {
  const folder = path.resolve(config.dataDir);
  const { databaseFolder } = sandbox;
  if (databaseFolder === undefined) return `${folder}, and the database of DATABASE_URL`;
  return databaseFolder.startsWith(folder + path.sep) ? folder : `${folder}, database in ${databaseFolder}`;
}

/** Live merchants beside the sandbox have money that is not simulated. */
const liveNetworks = ({ networksFile }: Config) =>
  networksFile === undefined ? '' : `, and live merchants on the networks of ${networksFile}`;

/** The start banner. It omits the secret key, since terminals are shared and recorded. */
export function sandboxBanner(config: Config, sandbox: RunningSandbox): string {
  const { baseUrl, credentials, credentialsFile, consoleLink } = sandbox;
  return `
Florin is running: a sandbox with simulated money${liveNetworks(config)}.

  Browser      ${baseUrl}/
  Console      ${consoleLink} (once, within an hour; then: florin console link)
  Address      ${baseUrl}/api/v1
  Docs         ${baseUrl}/docs (API reference: ${baseUrl}/docs/api)
  Webhooks     ${baseUrl}/sandbox/webhooks
  API key      ${credentials.api_key}
  Secret key   in ${credentialsFile}, with all that a client needs
  Data         ${whereData(config, sandbox)}

Create your first payout batch, in another terminal:

  ${nextStep(config)}

Stop with Ctrl-C, or kill ${process.pid}. The next start keeps all data.
`;
}
