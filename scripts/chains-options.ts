import { parseArgs } from 'node:util';

export const USAGE = `npm run chains -- [options]
  Starts a local Ethereum (anvil), a local Tron and a local Solana with test USDT and USDC, our contracts and payers with
  funds, and writes what a server has to know of them into a networks file. Ctrl-C stops all and removes the file.

  --port <n>               of 127.0.0.1 (8545); 0 takes a free one
  --tron-port <n>          of 127.0.0.1 (8090); 0 takes a free one
  --solana-port <n>        of 127.0.0.1 (8899); 0 takes a free one
  --block-time <seconds>   a block of Ethereum each so many seconds (2)
  --by-hand                blocks of Ethereum by npm run chains -- mine alone
  --slots-in-an-epoch <n>  finalized is twice as many blocks behind the newest one (2; mainnet has 32)
  --file <path>            the networks file (.florin/networks.json)
  --tank <address>         the gas tank that florin signer init showed: gets ether, and the Sweeper is deployed for it
  --json                   prints JSON alone

npm run chains -- fund --tank <address> [--file <path>] [--json]
  On nodes that are running: gives a gas tank ether, TRX or SOL, by the form of its address. For one of Ethereum it also
  writes its Sweeper into the networks file.

npm run chains -- pay --page <url> [--network trc20] [--amount <n>] [--token USDC] [--file <path>] [--json]
  Pays what a payer's page asks for on a network (erc20), or another amount, as an exchange does: from a wallet that
  tells nothing.

npm run chains -- pay --to <address> --amount <n> [--token USDC] [--file <path>] [--json]
  Sends tokens (USDT) from the payer's wallet on the network whose address it is.

npm run chains -- approve --amount <n> [--network trc20] [--token USDC] [--file <path>] [--json]
  Sets what the payer's wallet lets the Collector take, on Ethereum or Tron; 0 takes it back.

npm run chains -- mine [--blocks <n>] [--file <path>] [--json]
  Mines blocks (1) of Ethereum at once.

npm run chains -- --help`;

/** A refusal: one line, exit code 1. */
export class Refused extends Error {}

export function readOptions() {
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
        network: { type: 'string' },
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

export type Options = ReturnType<typeof readOptions>['values'];

export function wholeNumber(name: string, text: string, [least, most]: [number, number]): number {
  const value = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new Refused(`--${name} takes a whole number from ${least} to ${most}, not "${text}"`);
}
