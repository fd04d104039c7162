import type { Network } from '@florin/contract/money';
import { ed25519 } from '@noble/curves/ed25519.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addressCases, base58CheckCases, contractCases } from '../../../../../test/own-cases/addresses.ts';
import { checkAddress } from './check.ts';
import { formatErc20Address } from './erc20.ts';
import { formatSplAddress } from './spl.ts';
import { isTokenContract, TOKEN_CONTRACTS } from './token-contracts.ts';
import { formatTrc20Address, parseTrc20Address } from './trc20.ts';

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const account = fc.uint8Array({ minLength: 20, maxLength: 20 });

function codeOf(network: Network, address: string): string {
  const check = checkAddress(network, address);
  return check.ok ? 'ok' : String(check.code);
}

describe('bad inputs', () => {
  test('J8: every address is judged as it expects', () => {
    for (const { network, address, expect: verdict, why } of addressCases())
      expect(checkAddress(network, address).ok, `${address}: ${why}`).toBe(verdict === 'accept');
  });

  test('J8: a genuine token contract is refused as recipient', () => {
    for (const { network, contract, genuine } of contractCases()) {
      expect(isTokenContract(network, contract), contract).toBe(genuine);
      if (genuine) expect(codeOf(network, contract), contract).toBe('token_contract');
    }
  });

  test('J8: base58check is read by its check bytes, and its version is that of Tron', () => {
    for (const { text, payload } of base58CheckCases()) {
      const account = parseTrc20Address(text);
      const isTron = payload?.length === 42 && payload.startsWith('41');
      expect(account === undefined ? undefined : Buffer.from(account).toString('hex'), text).toBe(
        isTron ? payload.slice(2) : undefined,
      );
      if (payload === undefined) expect(codeOf('trc20', text), text).not.toBe('ok');
    }
  });
});

describe('erc20', () => {
  const good = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

  test.each([
    ['without 0x', good.slice(2), 'format'],
    ['capital X', good.replace('0x', '0X'), 'format'],
    ['short', good.slice(0, -1), 'format'],
    ['long', `${good}0`, 'format'],
    ['a space', ` ${good}`, 'format'],
    ['a line break', `${good}\n`, 'format'],
    ['one letter of the checksum wrong', good.replace('aA', 'AA'), 'checksum'],
    ['zero', `0x${'0'.repeat(40)}`, 'zero'],
    ['burn', '0x000000000000000000000000000000000000dEaD', 'zero'],
    ['burn in one case', '0x000000000000000000000000000000000000dead', 'zero'],
    ['native coin placeholder', '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE', 'zero'],
    ['first precompile', '0x0000000000000000000000000000000000000001', 'program'],
    ['newest precompile', '0x0000000000000000000000000000000000000011', 'program'],
    ['end of the reserved range', '0x00000000000000000000000000000000000000ff', 'program'],
    ['past the reserved range', '0x0000000000000000000000000000000000000100', 'ok'],
    ['USDT in one case', TOKEN_CONTRACTS.erc20.USDT.toLowerCase(), 'token_contract'],
    ['a Tron address', 'THRF3GuPnvvPzKoaT8pJex5XHmo8NNbCb3', 'format'],
    ['a Solana address', '2gVkYWexTHR5Hb2aLeQN3tnngvWzisFKXDUPrgMHpdST', 'format'],
  ])('J8: %s', (_what, address, code) => {
    expect(codeOf('erc20', address)).toBe(code);
  });

  test('one case is accepted with a warning and made canonical', () => {
    const upper = `0x${good.slice(2).toUpperCase()}`;
    expect(checkAddress('erc20', good)).toEqual({ ok: true, canonical: good, warnings: [] });
    expect(checkAddress('erc20', upper)).toEqual({ ok: true, canonical: good, warnings: ['no_checksum'] });
    expect(checkAddress('erc20', good.toLowerCase()).canonical).toBe(good);
  });

  test('J8: random mixed case is refused unless it is the checksum', () => {
    fc.assert(
      fc.property(account, fc.array(fc.boolean(), { minLength: 40, maxLength: 40 }), (bytes, capitals) => {
        fc.pre(bytes.some((byte, i) => i < 19 && byte !== 0));
        const digits = Buffer.from(bytes).toString('hex');
        const spelled = `0x${[...digits].map((d, i) => (capitals[i] ? d.toUpperCase() : d)).join('')}`;
        const body = spelled.slice(2);
        const oneCase = body === body.toLowerCase() || body === body.toUpperCase();
        expect(checkAddress('erc20', spelled).ok).toBe(oneCase || spelled === formatErc20Address(bytes));
      }),
    );
  });
});

describe('trc20', () => {
  const good = 'THRF3GuPnvvPzKoaT8pJex5XHmo8NNbCb3';
  const low = (last: number) => formatTrc20Address(Uint8Array.from([...Array<number>(19).fill(0), last]));

  test.each([
    ['hex form', '4151b7d8b2ba47ed7d3e7d28d32f3c1b9f9a5e6b7c', 'format'],
    ['a wrong USDT address that is going round', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzg5uV7p', 'checksum'],
    ['zero', low(0), 'zero'],
    ['precompile', low(9), 'program'],
    ['black hole', 'TLsV52sRDL79HXGGm9yzwKibb6BeruhUzy', 'zero'],
    ['USDT', TOKEN_CONTRACTS.trc20.USDT, 'token_contract'],
    ['retired USDC', TOKEN_CONTRACTS.trc20.USDC, 'token_contract'],
    ['an Ethereum address', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', 'format'],
    ['a space', `${good} `, 'format'],
    ['lower case', good.toLowerCase(), 'format'],
    ['itself', good, 'ok'],
  ])('J8: %s', (_what, address, code) => {
    expect(codeOf('trc20', address)).toBe(code);
  });

  test('J8: one changed character never passes base58check', () => {
    fc.assert(
      fc.property(account, fc.nat(33), fc.nat(57), (bytes, place, digit) => {
        const right = formatTrc20Address(bytes);
        const wrong = right.slice(0, place) + BASE58.charAt(digit) + right.slice(place + 1);
        fc.pre(wrong !== right);
        expect(checkAddress('trc20', wrong).ok).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  test('a formatted account parses back', () => {
    fc.assert(
      fc.property(account, (bytes) => {
        expect(parseTrc20Address(formatTrc20Address(bytes))).toEqual(bytes);
      }),
    );
  });
});

describe('spl', () => {
  const good = '2gVkYWexTHR5Hb2aLeQN3tnngvWzisFKXDUPrgMHpdST';
  const offCurve = '6X4X1Ae24mkoWeCEpktevySVG9jzeCufut5vtUW3wFrD';

  test.each([
    ['system program', '11111111111111111111111111111111', 'program'],
    ['token program', 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA', 'program'],
    ['token program 2022', 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb', 'program'],
    ['associated token program', 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL', 'program'],
    ['memo program 1', 'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo', 'program'],
    ['memo program 3', 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr', 'program'],
    ['memo program 4', 'Memo4c2pN8afCj432Lb7RMVKi9PbQnnW7ewFFaV3oAH', 'program'],
    ['clock sysvar', 'SysvarC1ock11111111111111111111111111111111', 'program'],
    ['rent sysvar', 'SysvarRent111111111111111111111111111111111', 'program'],
    ['stake program', 'Stake11111111111111111111111111111111111111', 'program'],
    ['vote program', 'Vote111111111111111111111111111111111111111', 'program'],
    ['compute budget', 'ComputeBudget111111111111111111111111111111', 'program'],
    ['upgradeable loader', 'BPFLoaderUpgradeab1e11111111111111111111111', 'program'],
    ['lookup tables', 'AddressLookupTab1e1111111111111111111111111', 'program'],
    ['incinerator', '1nc1nerator11111111111111111111111111111111', 'zero'],
    ['a key of small order', formatSplAddress(ed25519.Point.ZERO.toBytes()), 'zero'],
    ['USDT mint', TOKEN_CONTRACTS.spl.USDT, 'token_contract'],
    ['USDC mint', TOKEN_CONTRACTS.spl.USDC, 'token_contract'],
    ['off the curve', offCurve, 'token_account'],
    ['31 bytes', formatSplAddress(new Uint8Array(31).fill(7)), 'format'],
    ['33 bytes', formatSplAddress(new Uint8Array(33).fill(7)), 'format'],
    ['an Ethereum address', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', 'format'],
    ['a Tron address', 'THRF3GuPnvvPzKoaT8pJex5XHmo8NNbCb3', 'format'],
    ['a space', ` ${good}`, 'format'],
    ['itself', good, 'ok'],
  ])('J8: %s', (_what, address, code) => {
    expect(codeOf('spl', address)).toBe(code);
  });

  test('J8: an off-curve address passes only where program-owned wallets are allowed', () => {
    const check = checkAddress('spl', offCurve, { allowProgramOwned: true });
    expect(check).toEqual({ ok: true, canonical: offCurve, warnings: ['program_owned'] });
    expect(checkAddress('spl', TOKEN_CONTRACTS.spl.USDC, { allowProgramOwned: true }).ok).toBe(false);
  });

  test('the key of any wallet is accepted', () => {
    const secret = fc.uint8Array({ minLength: 32, maxLength: 32 });
    fc.assert(
      fc.property(secret, (seed) => {
        expect(codeOf('spl', formatSplAddress(ed25519.getPublicKey(seed)))).toBe('ok');
      }),
      { numRuns: 30 },
    );
  });
});

test('J8: no text makes a check throw, and what is accepted is accepted again in canonical form', () => {
  const network = fc.constantFrom<Network>('erc20', 'trc20', 'spl');
  fc.assert(
    fc.property(network, fc.string({ unit: 'binary', maxLength: 256 }), (net, text) => {
      const check = checkAddress(net, text);
      expect(check.ok).toBe(check.code === undefined);
      if (check.ok)
        expect(checkAddress(net, check.canonical)).toMatchObject({ ok: true, canonical: check.canonical });
    }),
  );
});
