import { generateKeyPairSigner, signature } from '@solana/kit';
import { getTransferSolInstruction } from '@solana-program/system';
import { TOKEN_PROGRAM_ADDRESS } from '@solana-program/token';
import { describe, expect, test } from 'vitest';
import { tokenAddress, transfer } from './solana-client.ts';
import { balance, client, node, payer, refusal, stranger, usdt, useSolana } from './solana-stage.ts';

useSolana();

describe('what a node refuses', () => {
  const SOMEBODY = '11111111111111111111111111111112';
  const REFUSED: [method: string, params: unknown[], code: number, message: RegExp][] = [
    ['getNothing', [], -32_601, /^Method not found$/],
    ['getBalance', [], -32_602, /should have at least 1/],
    ['getBalance', ['0x12'], -32_602, /^Invalid param: Invalid$/],
    ['getBalance', ['abc'], -32_602, /^Invalid param: WrongSize$/],
    ['getBalance', [SOMEBODY, { commitment: 'best' }], -32_602, /unknown variant `best`/],
    [
      'getMultipleAccounts',
      [Array.from({ length: 101 }, () => SOMEBODY)],
      -32_602,
      /^Too many inputs provided; max 100$/,
    ],
    ['getSignatureStatuses', [Array.from({ length: 257 }, () => '1'.repeat(64))], -32_602, /max 256$/],
    ['getSignaturesForAddress', [SOMEBODY, { limit: 1_001 }], -32_602, /^Invalid limit; max 1000$/],
    ['getSignaturesForAddress', [SOMEBODY, { commitment: 'processed' }], -32_602, /below `confirmed`$/],
    ['getTransaction', ['1'.repeat(64), { commitment: 'processed' }], -32_602, /below `confirmed`$/],
    ['getTransaction', ['1'.repeat(63)], -32_602, /^Invalid param: WrongSize$/],
    ['getTokenAccountBalance', [SOMEBODY], -32_602, /^Invalid param: could not find account$/],
    [
      'getTokenAccountsByOwner',
      [SOMEBODY, { mint: SOMEBODY }],
      -32_602,
      /^Invalid param: could not find mint$/,
    ],
    [
      'getTokenAccountsByOwner',
      [SOMEBODY, { programId: SOMEBODY }],
      -32_602,
      /unrecognized Token program id$/,
    ],
    ['sendTransaction', ['%%', { encoding: 'base64' }], -32_602, /^invalid base64 encoding/],
    [
      'sendTransaction',
      ['AAAA', { encoding: 'base64' }],
      -32_602,
      /^failed to deserialize solana_transaction/,
    ],
    [
      'sendTransaction',
      ['A'.repeat(1_648), { encoding: 'base64' }],
      -32_602,
      /too large: 1648 bytes \(max: encoded\/raw 1644\/1232\)$/,
    ],
    [
      'sendTransaction',
      [Buffer.alloc(1_233).toString('base64'), { encoding: 'base64' }],
      -32_602,
      /too large: 1233 bytes/,
    ],
  ];
  for (const [method, params, code, message] of REFUSED) {
    test(`${method} ${JSON.stringify(params).slice(0, 60)}`, async () => {
      const { error } = await client.raw(method, params);
      expect(error?.code).toBe(code);
      expect(error?.message).toMatch(message);
    });
  }

  test('requests that are none', async () => {
    const ask = async (body: string) => {
      const answer: unknown = await (await fetch(node.url, { method: 'POST', body })).json();
      return answer;
    };
    expect(await ask('{')).toMatchObject({ error: { code: -32_700 }, id: null });
    expect(await ask('[]')).toMatchObject({ error: { code: -32_600 } });
    expect(await ask('{"id":1}')).toMatchObject({ error: { code: -32_600 }, id: 1 });
    expect(await ask('[{"jsonrpc":"2.0","id":1,"method":"getHealth"},5]')).toMatchObject([
      { id: 1, result: 'ok' },
      { error: { code: -32_600 } },
    ]);
    expect((await fetch(node.url)).status).toBe(405);
  });

  test('a signature that is not of these bytes', async () => {
    const signed = await client.sign(payer, await transfer(payer, usdt, await stranger(), 1n));
    const bytes = Buffer.from(signed.wire, 'base64');
    bytes[5] = (bytes[5] ?? 0) ^ 1;
    const text = bytes.toString('base64');
    const checked = await client.raw('sendTransaction', [
      text,
      { encoding: 'base64', preflightCommitment: 'processed' },
    ]);
    expect(checked.error).toMatchObject({
      code: -32_003,
      message: 'Transaction signature verification failure',
    });
    // Without preflight nobody says so, and no block takes it.
    const unchecked = await client.raw('sendTransaction', [
      text,
      { encoding: 'base64', skipPreflight: true },
    ]);
    const { value } = await client.rpc.getSignatureStatuses([signature(String(unchecked.result))]).send();
    expect(value).toEqual([null]);
    const simulated = await client.raw('simulateTransaction', [
      text,
      { encoding: 'base64', sigVerify: true, commitment: 'processed' },
    ]);
    expect(simulated.error).toMatchObject({ code: -32_003 });
  });

  test('preflight runs the transaction and keeps nothing of it', async () => {
    const owner = await stranger();
    const signed = await client.sign(payer, await transfer(payer, usdt, owner, 2_000_000_000n));
    const { error } = await client.raw('sendTransaction', [
      signed.wire,
      { encoding: 'base64', preflightCommitment: 'processed' },
    ]);
    expect(error).toMatchObject({
      code: -32_002,
      message: 'Transaction simulation failed: Error processing Instruction 1: custom program error: 0x1',
      data: { err: { InstructionError: [1, { Custom: 1 }] }, accounts: null },
    });
    expect(await balance(owner)).toBeUndefined();
    const poor = await generateKeyPairSigner();
    const unpaid = await client.sign(poor, await transfer(poor, usdt, owner, 1n));
    expect((await refusal(client.send(unpaid))).cause).toMatch(/debit an account but found no record/i);
    node.controls.fund(poor.address, 900_000n);
    // The account's rent is more than that.
    expect((await refusal(client.send(unpaid))).cause).toContain('#1 (instruction #1)');
  });

  test('nobody is left with less than the rent of an account', async () => {
    const [poor, owner] = [await generateKeyPairSigner(), await stranger()];
    node.controls.fund(poor.address, 2_000_000n);
    const most = getTransferSolInstruction({ source: poor, destination: owner, amount: 1_900_000n });
    const signed = await client.sign(poor, [most]);
    expect((await refusal(client.send(signed))).cause).toMatch(/insufficient funds for rent/i);
    await client.rpc.sendTransaction(signed.wire, { encoding: 'base64', skipPreflight: true }).send();
    const { value } = await client.rpc.getSignatureStatuses([signed.signature]).send();
    expect(value[0]?.err).toEqual({ InsufficientFundsForRent: { account_index: 0n } });
    const left = await client.rpc.getBalance(poor.address, { commitment: 'processed' }).send();
    expect(left.value).toBe(1_995_000n);
  });

  test('a simulation answers for bytes that nobody has signed', async () => {
    const owner = await stranger();
    const signed = await client.sign(payer, await transfer(payer, usdt, owner, 4n));
    const bytes = Buffer.from(signed.wire, 'base64').fill(0, 1, 65);
    const account = await tokenAddress(owner, usdt);
    const config = {
      encoding: 'base64',
      commitment: 'processed',
      accounts: { encoding: 'base64', addresses: [account] },
    };
    const { result } = await client.raw('simulateTransaction', [bytes.toString('base64'), config]);
    expect(result).toMatchObject({
      value: { err: null, accounts: [{ owner: TOKEN_PROGRAM_ADDRESS, space: 165 }] },
    });
    const replaced = await client.raw('simulateTransaction', [
      signed.wire,
      { encoding: 'base64', replaceRecentBlockhash: true, commitment: 'processed' },
    ]);
    expect(replaced.result).toMatchObject({
      value: { err: null, replacementBlockhash: { blockhash: node.chain.tip.hash } },
    });
    expect(await balance(owner)).toBeUndefined();
  });
});
