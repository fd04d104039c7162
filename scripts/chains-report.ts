import { bytesToHex } from 'viem';
import type { Options } from './chains-options.ts';
import { OPERATOR, OWNER, PAYER } from './local-chain.ts';
import type { LocalSolana } from './local-solana.ts';
import type { LocalTron } from './local-tron.ts';
import type { LocalEntry } from './networks-file.ts';

/** The nodes that run. */
export interface Running {
  network: LocalEntry;
  tron: LocalTron;
  solana: LocalSolana;
}

/** For `--json`. */
export function report({ network, tron, solana }: Running, file: string) {
  return {
    file,
    networks: { erc20: network, trc20: tron.entry, spl: solana.entry },
    test_accounts: { owner: wallet(OWNER), payer: wallet(PAYER), operator: wallet(OPERATOR) },
    tron_payer: tron.payer,
    solana_payer: solana.payer,
  };
}

function wallet(account: typeof PAYER) {
  const key = account.getHdKey().privateKey;
  return { address: account.address, public_test_key: key == null ? null : bytesToHex(key) };
}

/** For people. */
export function banner({ network, tron, solana }: Running, options: Options, file: string): string {
  const again = options.file === '.florin/networks.json' ? '' : ` --file ${options.file}`;
  return [
    `Ethereum, Tron and Solana on this machine, for tests
  networks file ${file}`,
    ethereum(network, options, again),
    tronLines(tron),
    solanaLines(solana),
    `Pay:  npm run chains -- pay --page http://127.0.0.1:8420/checkout/… --network erc20${again}
Stop: Ctrl-C. The chains are gone then; the next ones have the same addresses and other genesis hashes.`,
  ].join('\n\n');
}

function ethereum({ endpoints, chain_id, tokens, contracts }: LocalEntry, options: Options, again: string) {
  const mining = options['by-hand']
    ? `by hand: npm run chains -- mine${again}`
    : `a block each ${options['block-time']} s`;
  return `Ethereum (erc20)
  endpoint      ${endpoints[0].url}   chain id ${chain_id}
  blocks        ${mining}; final ${2 * Number(options['slots-in-an-epoch'])} blocks later
  USDT          ${tokens.USDT.address}
  USDC          ${tokens.USDC.address}
  BatchPayout   ${contracts.batch_payout}
  Sweeper       ${contracts.sweeper}
  Collector     ${contracts.collector}
  payer         ${PAYER.address}   1,000,000 USDT, 1,000,000 USDC, ether
  payer's key   ${wallet(PAYER).public_test_key}   PUBLIC TEST KEY: everybody knows it
  token owner   ${OWNER.address}
  sweeper's     ${options.tank ?? OPERATOR.address}   operator`;
}

function tronLines({ entry, payer }: LocalTron) {
  return `Tron (trc20)
  endpoint      ${entry.endpoints[0].url}   /wallet and /walletsolidity
  blocks        each 3 s; solid 19 blocks later
  USDT          ${entry.tokens.USDT.address}
  USDC          ${entry.tokens.USDC.address}   for trying: its issuer has left Tron
  Collector     ${entry.contracts.collector}
  payer         ${payer.address}   1,000,000 USDT, 1,000,000 USDC, 100,000 TRX
  payer's key   ${payer.public_test_key}   PUBLIC TEST KEY: everybody knows it`;
}

function solanaLines({ entry, payer }: LocalSolana) {
  return `Solana (spl)
  endpoint      ${entry.endpoints[0].url}   genesis ${entry.genesis_hash}
  blocks        each 0.4 s; final 32 blocks later
  USDT          ${entry.tokens.USDT.address}
  USDC          ${entry.tokens.USDC.address}
  payer         ${payer.address}   1,000,000 USDT, 1,000,000 USDC, 100 SOL
  payer's key   ${payer.public_test_key}
                PUBLIC TEST KEY: everybody knows it`;
}
