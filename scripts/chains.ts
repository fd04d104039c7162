import path from 'node:path';
import { parseArgs } from 'node:util';
import { type Address, BaseError, bytesToHex, formatEther, getAddress, isAddress, parseUnits } from 'viem';
import { TestUSDT } from '../contracts/artifacts/index.ts';
import type { SolanaEntry } from '../packages/server/src/chains/solana/network-entry.ts';
import type { TronEntry } from '../packages/server/src/chains/tron/network-entry.ts';
import { type Anvil, startAnvil } from './anvil.ts';
import { by, connect, fundTank, furnish, OPERATOR, OWNER, PAYER } from './local-chain.ts';
import { type LocalSolana, startLocalSolana } from './local-solana.ts';
import { type LocalTron, startLocalTron } from './local-tron.ts';
import {
  type LocalEntry,
  readNetworksFile,
  refuseForeignFile,
  removeNetworksFile,
  writeNetworksFile,
} from './networks-file.ts';
import { type Asked, askPage } from './pay-page.ts';

const USAGE = `npm run chains -- [options]
  Starts a local Ethereum node (anvil) with test USDT and USDC, our contracts and a payer with funds, and writes
  what a server has to know of it into a networks file. Beside it a local Tron and a local Solana with test tokens, for
  libraries and wallets: the file does not name them; an entry for it is printed of each. Ctrl-C stops all and removes the file.

  --port <n>               of 127.0.0.1 (8545); 0 takes a free one
  --tron-port <n>          of 127.0.0.1 (8090); 0 takes a free one
  --solana-port <n>        of 127.0.0.1 (8899); 0 takes a free one
  --block-time <seconds>   a block each so many seconds (2)
  --by-hand                blocks by npm run chains -- mine alone
  --slots-in-an-epoch <n>  finalized is twice as many blocks behind the newest one (2; mainnet has 32)
  --file <path>            the networks file (.florin/networks.json)
  --tank <address>         the gas tank that florin signer init showed: gets ether, and the Sweeper is deployed for it
  --json                   prints JSON alone

npm run chains -- fund --tank <address> [--file <path>] [--json]
  The same on a node that is running: writes the Sweeper of this gas tank into the networks file.

npm run chains -- pay --page <url> [--amount <n>] [--token USDC] [--file <path>] [--json]
  Pays what a payer's page asks for, or another amount, as an exchange does: from a wallet that tells nothing.

npm run chains -- pay --to <address> --amount <n> [--token USDC] [--file <path>] [--json]
  Sends tokens (USDT) from the payer's wallet.

npm run chains -- approve --amount <n> [--token USDC] [--file <path>] [--json]
  Sets what the payer's wallet lets the Collector take; 0 takes it back.

npm run chains -- mine [--blocks <n>] [--file <path>] [--json]
  Mines blocks (1) at once.

npm run chains -- --help`;

/** A refusal: one line, exit code 1. */
class Refused extends Error {}

function readOptions() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        port: { type: 'string', default: '8545' },
        'tron-port': { type: 'string', default: '8090' },
        'solana-port': { type: 'string', default: '8899' },
        'block-time': { type: 'string', default: '2' },
        'by-hand': { type: 'boolean', default: false },
        'slots-in-an-epoch': { type: 'string', default: '2' },
        file: { type: 'string', default: '.florin/networks.json' },
        tank: { type: 'string' },
        page: { type: 'string' },
        to: { type: 'string' },
        amount: { type: 'string' },
        token: { type: 'string', default: 'USDT' },
        blocks: { type: 'string', default: '1' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    const [line = ''] = String(error instanceof Error ? error.message : error).split('\n');
    throw new Refused(`${line} (--help)`);
  }
}

type Options = ReturnType<typeof readOptions>['values'];

function wholeNumber(name: string, text: string, [least, most]: [number, number]): number {
  const value = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new Refused(`--${name} takes a whole number from ${least} to ${most}, not "${text}"`);
}

async function start(options: Options): Promise<void> {
  const port = wholeNumber('port', options.port, [0, 65_535]);
  const solanaPort = wholeNumber('solana-port', options['solana-port'], [0, 65_535]);
  const tronPort = wholeNumber('tron-port', options['tron-port'], [0, 65_535]);
  const blockTime = wholeNumber('block-time', options['block-time'], [1, 3_600]);
  const slotsInAnEpoch = wholeNumber('slots-in-an-epoch', options['slots-in-an-epoch'], [1, 64]);
  const file = path.resolve(options.file);
  refuseForeignFile(file);
  const tank = tankOf(options);
  const anvil = await startAnvil({ port, slotsInAnEpoch }).catch((error: Error) => {
    throw new Refused(
      /in use/i.test(error.message) ? `port ${port} is taken: give another --port` : error.message,
    );
  });
  // From here on a signal ends the node first.
  let stopping = false;
  const stop = () => {
    stopping = true;
    void anvil.stop();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
  const others = [
    startOther('solana', startLocalSolana, solanaPort),
    startOther('tron', startLocalTron, tronPort),
  ] as const;
  try {
    const [solana, tron] = await Promise.all(others);
    const network = await furnish(anvil.url, slotsInAnEpoch, tank);
    const client = connect(anvil.url);
    if (options['by-hand']) await client.setAutomine(false);
    else await client.setIntervalMining({ interval: blockTime });
    await serve({ anvil, network, solana, tron }, options, file);
  } catch (error) {
    if (!stopping) throw error;
  } finally {
    await anvil.stop();
    for (const other of await Promise.allSettled(others))
      if (other.status === 'fulfilled') await other.value.node.stop();
  }
  if (!stopping) throw new Refused('anvil ended by itself');
}

async function startOther<T>(name: string, begin: (port: number) => Promise<T>, port: number): Promise<T> {
  return await begin(port).catch((error: Error) => {
    throw new Refused(
      /EADDRINUSE/.test(error.message) ? `port ${port} is taken: give another --${name}-port` : error.message,
    );
  });
}

interface Nodes {
  anvil: Anvil;
  network: LocalEntry;
  solana: LocalSolana;
  tron: LocalTron;
}

/** Until the node ends. */
async function serve(nodes: Nodes, options: Options, file: string): Promise<void> {
  const { anvil, network } = nodes;
  writeNetworksFile(file, network);
  try {
    console.log(
      options.json
        ? JSON.stringify(report(nodes, file), null, 2)
        : `${banner(network, options, file)}\n\n${tronBanner(nodes.tron)}\n\n${solanaBanner(nodes.solana)}\n\n${STOP}`,
    );
    await anvil.ended;
  } finally {
    removeNetworksFile(file, network);
  }
}

function report({ network, solana, tron }: Nodes, file: string) {
  return {
    file,
    network,
    tron: {
      ...shown(tron),
      collector: tron.collector,
      genesis_hash: tron.node.chain.blockAt(0).id,
      entry: tronEntry(tron),
    },
    solana: { ...shown(solana), genesis_hash: solana.node.chain.genesisHash, entry: solanaEntry(solana) },
    test_accounts: { owner: wallet(OWNER), payer: wallet(PAYER), operator: wallet(OPERATOR) },
  };
}

function wallet(account: typeof PAYER) {
  const key = account.getHdKey().privateKey;
  return { address: account.address, public_test_key: key == null ? null : bytesToHex(key) };
}

function banner(network: LocalEntry, options: Options, file: string): string {
  const { tokens, contracts } = network;
  const again = options.file === '.florin/networks.json' ? '' : ` --file ${options.file}`;
  const mining = options['by-hand']
    ? `by hand: npm run chains -- mine${again}`
    : `a block each ${options['block-time']} s`;
  return `Ethereum on this machine, for tests
  endpoint      ${network.endpoints[0].url}   chain id ${network.chain_id}
  blocks        ${mining}; final ${2 * Number(options['slots-in-an-epoch'])} blocks later
  networks file ${file}

  USDT          ${tokens.USDT.address}
  USDC          ${tokens.USDC.address}
  BatchPayout   ${contracts.batch_payout}
  Sweeper       ${contracts.sweeper}
  Collector     ${contracts.collector}

  payer         ${PAYER.address}   1,000,000 USDT, 1,000,000 USDC, ether
  payer's key   ${wallet(PAYER).public_test_key}   PUBLIC TEST KEY: everybody knows it
  token owner   ${OWNER.address}
  sweeper's     ${options.tank ?? OPERATOR.address}   operator

Pay:  npm run chains -- pay --page http://127.0.0.1:8420/checkout/…${again}`;
}

function shown<T extends LocalSolana | LocalTron>({ node, tokens, payer }: T) {
  return { url: node.url, tokens, payer };
}

/** What a server takes as `networks.trc20` of its networks file. */
function tronEntry({ node, tokens, collector }: LocalTron): TronEntry {
  return {
    name: 'Tron (local node)',
    test: true,
    endpoints: [{ url: node.url, own: true }],
    genesis_hash: node.chain.blockAt(0).id,
    tokens: { USDT: { address: tokens.USDT, decimals: 6 }, USDC: { address: tokens.USDC, decimals: 6 } },
    contracts: { collector },
    fee_ceilings: { fee_limit: '100000000' },
    explorer: null,
  };
}

function tronBanner(tron: LocalTron): string {
  const { node, tokens, collector, payer } = tron;
  return `Tron on this machine, for tests: a server takes it with this line in "networks" of its networks file
  "trc20": ${JSON.stringify(tronEntry(tron))}

  endpoint      ${node.url}   /wallet and /walletsolidity
  blocks        each 3 s; solid 19 blocks later

  USDT          ${tokens.USDT}
  USDC          ${tokens.USDC}   for sandboxes: its issuer has left Tron
  Collector     ${collector}

  payer         ${payer.address}   1,000,000 USDT, 1,000,000 USDC, 100,000 TRX
  payer's key   ${payer.public_test_key}   PUBLIC TEST KEY: everybody knows it`;
}

/** What a server takes as `networks.spl` of its networks file. */
function solanaEntry({ node, tokens }: LocalSolana): SolanaEntry {
  return {
    name: 'Solana (local node)',
    test: true,
    endpoints: [{ url: node.url, own: true }],
    genesis_hash: node.chain.genesisHash,
    tokens: { USDT: { address: tokens.USDT, decimals: 6 }, USDC: { address: tokens.USDC, decimals: 6 } },
    fee_ceilings: { compute_units: 600_000, priority_fee: '1000000' },
    explorer: null,
  };
}

function solanaBanner(solana: LocalSolana): string {
  const { node, tokens, payer } = solana;
  return `Solana on this machine, for tests: a server takes it with this line in "networks" of its networks file
  "spl": ${JSON.stringify(solanaEntry(solana))}

  endpoint      ${node.url}   genesis ${node.chain.genesisHash}
  blocks        each 0.4 s; final 32 blocks later

  USDT          ${tokens.USDT}
  USDC          ${tokens.USDC}

  payer         ${payer.address}   1,000,000 USDT, 1,000,000 USDC, 100 SOL
  payer's key   ${payer.public_test_key}
                PUBLIC TEST KEY: everybody knows it`;
}

const STOP =
  'Stop: Ctrl-C. The chains are gone then; the next ones have the same addresses and other genesis hashes.';

/** The endpoint of the networks file, if it still is the node that the file was written for. */
async function running(options: Options) {
  const network = readNetworksFile(path.resolve(options.file));
  const client = connect(network.endpoints[0].url);
  const genesis = await client.getBlock({ blockNumber: 0n }).catch(() => undefined);
  if (genesis === undefined)
    throw new Refused(`nothing answers at ${network.endpoints[0].url}: start npm run chains`);
  if (genesis.hash !== network.genesis_hash) {
    throw new Refused(`${network.endpoints[0].url} is another chain than that of ${options.file}`);
  }
  return { network, client };
}

function tankOf({ tank }: Options): Address | undefined {
  if (tank === undefined) return undefined;
  if (isAddress(tank)) return getAddress(tank);
  throw new Refused(`--tank takes the gas tank's address, which florin signer init shows, not "${tank}"`);
}

async function fund(options: Options): Promise<void> {
  const tank = tankOf(options);
  if (tank === undefined) throw new Refused('--tank is missing: the address that florin signer init shows');
  const { network, client } = await running(options);
  const sweeper = await fundTank(client, tank);
  const changed = { ...network, contracts: { ...network.contracts, sweeper } };
  writeNetworksFile(path.resolve(options.file), changed);
  const balance = formatEther(await client.getBalance({ address: tank }));
  if (options.json) console.log(JSON.stringify({ tank, ether: balance, sweeper }));
  else
    console.log(
      `The gas tank ${tank} has ${balance} ether; its Sweeper ${sweeper} stands in ${options.file}. ` +
        'Servers that run already must be started again.',
    );
}

const AMOUNT = /^\d{1,12}(\.\d{1,6})?$/;

function tokenOf({ amount, token }: Options): 'USDT' | 'USDC' {
  if (amount !== undefined && !AMOUNT.test(amount))
    throw new Refused(`--amount takes a number such as 12.34, not "${amount}"`);
  if (token === 'USDT' || token === 'USDC') return token;
  throw new Refused(`--token takes USDT or USDC, not "${token}"`);
}

const NO_AMOUNT = '--amount is missing: a number such as 12.34';

/** @returns whom to pay and how much */
async function recipientOf({ page, to = '', amount }: Options, token: 'USDT' | 'USDC'): Promise<Asked> {
  if (page !== undefined) {
    const asked = await askPage(page, token);
    return { to: asked.to, amount: amount ?? asked.amount };
  }
  if (!isAddress(to)) throw new Refused(`--to takes an address such as ${OWNER.address}, not "${to}"`);
  if (amount === undefined) throw new Refused(NO_AMOUNT);
  return { to, amount };
}

async function pay(options: Options): Promise<void> {
  const token = tokenOf(options);
  const { to, amount } = await recipientOf(options, token);
  const { network, client } = await running(options);
  const hash = await client.writeContract({
    ...by(PAYER),
    address: network.tokens[token].address,
    abi: TestUSDT.abi,
    functionName: 'transfer',
    args: [to, parseUnits(amount, 6)],
  });
  if (options.json) console.log(JSON.stringify({ tx_id: hash, token, amount, to }));
  else console.log(`${amount} ${token} to ${to}: ${hash}`);
}

/** USDT goes from one approval to another by way of 0. */
async function approve(options: Options): Promise<void> {
  const token = tokenOf(options);
  const { amount } = options;
  if (amount === undefined) throw new Refused(NO_AMOUNT);
  const { network, client } = await running(options);
  const spender = network.contracts.collector;
  // With a limit of its own: an estimate would not know of the call before it.
  const call = { ...by(PAYER, 100_000n), address: network.tokens[token].address, abi: TestUSDT.abi };
  const approveOf = (units: bigint) =>
    client.writeContract({ ...call, functionName: 'approve', args: [spender, units] });
  const units = parseUnits(amount, 6);
  if (token === 'USDT' && units > 0n) await approveOf(0n);
  const hash = await approveOf(units);
  if (options.json) console.log(JSON.stringify({ tx_id: hash, token, amount, spender }));
  else console.log(`${PAYER.address} approves ${amount} ${token} to ${spender}: ${hash}`);
}

async function mine(options: Options): Promise<void> {
  const blocks = wholeNumber('blocks', options.blocks, [1, 10_000]);
  const { client } = await running(options);
  await client.mine({ blocks });
  const height = await client.getBlockNumber();
  console.log(options.json ? JSON.stringify({ height: Number(height) }) : `block ${height}`);
}

const COMMANDS: Record<string, (options: Options) => Promise<void>> = { start, fund, pay, approve, mine };

async function main(): Promise<void> {
  const { values, positionals } = readOptions();
  if (values.help) return console.log(USAGE);
  const [name = 'start', ...rest] = positionals;
  const command = COMMANDS[name];
  if (command === undefined || rest.length > 0)
    throw new Refused(`there is no "${positionals.join(' ')}" (--help)`);
  await command(values);
}

try {
  await main();
} catch (error) {
  const line =
    error instanceof BaseError ? error.shortMessage.replaceAll('\n', ' ') : String((error as Error).message);
  console.error(`chains: ${line}`);
  process.exitCode = 1;
}
