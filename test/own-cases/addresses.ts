import type { Network } from '@florin/contract/money';
import { withCorpus } from '../corpora.ts';

export interface AddressCase {
  network: Network;
  address: string;
  expect: 'accept' | 'reject';
  why: string;
}

export const addressCases = (): readonly AddressCase[] =>
  withCorpus<AddressCase>(
    [
      {
        network: 'erc20',
        address: '0xECa94bb37349866baf438A584c5eB3a85E73c9ae',
        expect: 'accept',
        why: 'checksum of EIP-55',
      },
      {
        network: 'erc20',
        address: '0xeca94bb37349866baf438a584c5eb3a85e73c9ae',
        expect: 'accept',
        why: 'one case: no checksum',
      },
      {
        network: 'erc20',
        address: '0xeCa94bb37349866baf438A584c5eB3a85E73c9ae',
        expect: 'reject',
        why: 'one letter of the checksum',
      },
      { network: 'erc20', address: `0x${'0'.repeat(40)}`, expect: 'reject', why: 'zero' },
      { network: 'erc20', address: 'TZEKwF3imCx6msvbiqt6H4zDNNUwPg9Ho9', expect: 'reject', why: 'of Tron' },
      {
        network: 'trc20',
        address: 'TZEKwF3imCx6msvbiqt6H4zDNNUwPg9Ho9',
        expect: 'accept',
        why: 'base58check',
      },
      {
        network: 'trc20',
        address: 'TDzzaNi64ahTwoiGEdQupBXjfoC48keF2e',
        expect: 'accept',
        why: 'base58check',
      },
      {
        network: 'trc20',
        address: 'TZEKwF3imCx6msvbiqt6H4zDNNUwPg9Ho8',
        expect: 'reject',
        why: 'check bytes',
      },
      { network: 'trc20', address: 'TZEKwF3imCx6msvbiqt6H4zDNNUwPg9Ho0', expect: 'reject', why: 'no base58' },
      {
        network: 'trc20',
        address: '1GpfBNmeoPjZ5W1xhoqguVVTXUXy3NZrnL',
        expect: 'reject',
        why: 'version byte of Bitcoin',
      },
      {
        network: 'spl',
        address: 'ExrM8ERPCuFSTra6exkk8uWBDaEMCKgESk6Kn3k5f8HD',
        expect: 'accept',
        why: 'key of a wallet',
      },
      {
        network: 'spl',
        address: 'HRWNFPPCZBrsicx8Q9ThKVC9uNtMPXJS6XPMkH9G7MJZ',
        expect: 'reject',
        why: 'off the curve: nobody has its key',
      },
      { network: 'spl', address: '1'.repeat(32), expect: 'reject', why: 'the system program' },
      { network: 'spl', address: 'ExrM8ERPCuFSTra6exkk8uWBDaEMCKgESk6Kn3k5', expect: 'reject', why: 'short' },
      {
        network: 'spl',
        address: '0xECa94bb37349866baf438A584c5eB3a85E73c9ae',
        expect: 'reject',
        why: 'of Ethereum',
      },
    ],
    'address/address_vectors.jsonl',
    (rows) => rows,
  );

export interface ContractCase {
  network: Network;
  contract: string;
  /** False: it calls itself USDT and is not. */
  genuine: boolean;
}

const fake = (network: Network, contract: string): ContractCase => ({ network, contract, genuine: false });
const genuine = (network: Network, contract: string): ContractCase => ({ network, contract, genuine: true });

export const contractCases = (): readonly ContractCase[] =>
  withCorpus<ContractCase, { vectors: ContractCase[] }>(
    [
      genuine('erc20', '0xdAC17F958D2ee523a2206206994597C13D831ec7'),
      genuine('erc20', '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'),
      genuine('trc20', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'),
      genuine('spl', 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB'),
      fake('erc20', '0x42f35c5dba960B5F3C83Dc8aca8b8042E273Eb28'),
      fake('erc20', '0x9A6c7Db4E44773437Ff90635b4c2D5522fA159eb'),
      fake('erc20', '0x37e44BaAd9469CfD728C71B7BCA7Ee3Da07ed965'),
      fake('trc20', 'TWhSjWeujGnsHTykbLTcFtcPAmn1s5dDLG'),
      fake('trc20', 'TYW5xBTLdeiez4uNbmc2uttft8zBd15JEC'),
      fake('trc20', 'TMCjKnTUjx9bbr9rEpUMZMnzPi2iBEAErm'),
      fake('spl', 'F9pJ8GpcUAisRqBeYZKFFd3AFZLrJrvjfpR5xhJ9oPey'),
      fake('spl', 'GmsFAp58EQ2byo2QKVTc2f3T3pvUzX76DBiMyex2ZCmS'),
      fake('spl', 'CsmCouMzFGTQTWSMBtdsP5RduhpDKx81qyrJpHvmfnUz'),
    ],
    'tokens/token_contracts.json',
    (corpus) => corpus.vectors,
  );

export interface Base58CheckCase {
  text: string;
  /** What the text holds, in hex; undefined: its check bytes are wrong. */
  payload: string | undefined;
}

export const base58CheckCases = (): readonly Base58CheckCase[] =>
  withCorpus<Base58CheckCase, { valid: { string: string; payload: string }[]; invalid: string[] }>(
    [
      {
        text: 'TDzzaNi64ahTwoiGEdQupBXjfoC48keF2e',
        payload: '412c36f673b60bef9abee5b5799b5914369ccb0d1d',
      },
      {
        text: '1GpfBNmeoPjZ5W1xhoqguVVTXUXy3NZrnL',
        payload: '00ad8d4e9d654b7ed57b151695141024cdb4f04f89',
      },
      {
        text: '38LSvmomy8C2vEERJ2esZXBuetkCP6yXt7',
        payload: '0548e5047da5e3c92c36f7cc55a7643d69004d4bf9',
      },
      {
        text: 'n2tTJCCzUUDySo895rQByXkhzqhPjpCFth',
        payload: '6fea6b962ee34c58c6b164586804023d03c95146b6',
      },
      // One byte too few and too many after Tron's version byte.
      { text: '6zn6q5FJvZD8EcuCERTKMCmaJ42PS6Bf4', payload: '41c5fc9b00c1ee54d492e650010fb1067951c20e' },
      {
        text: '31iX9ZAZsMG6c4vzfYx9kHJLnne7LYAs5LdM',
        payload: '41b7bcc8e9ef7e16dc40572e96373f445241d5ace58e',
      },
      { text: 'TDzzaNi64ahTwoiGEdQupBXjfoC48keF2f', payload: undefined },
      { text: 'TDzzaNi64ahTwoiGEdQupBXjfoC48keFe2', payload: undefined },
      { text: 'DTzzaNi64ahTwoiGEdQupBXjfoC48keF2e', payload: undefined },
      { text: 'TDzzaNi64ahTwoiGEdQupBXjfoC48keF2', payload: undefined },
      { text: 'TDzzaNi64ahTwoiGEdQupBXjfoC48keF2el', payload: undefined },
    ],
    'address/bs58check-fixtures.json',
    ({ valid, invalid }) => [
      ...valid.map(({ string: text, payload }) => ({ text, payload })),
      ...invalid.map((text) => ({ text, payload: undefined })),
    ],
  );
