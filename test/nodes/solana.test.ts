import {
  AccountRole,
  type Address,
  address,
  generateKeyPairSigner,
  type Signature,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE,
  signature,
} from '@solana/kit';
import {
  getSetComputeUnitLimitInstruction,
  getSetComputeUnitPriceInstruction,
} from '@solana-program/compute-budget';
import { getAddMemoInstruction } from '@solana-program/memo';
import {
  getApproveCheckedInstruction,
  getCloseAccountInstruction,
  getTransferCheckedInstruction,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token';
import { describe, expect, test } from 'vitest';
import { startSolanaNode } from './solana/node.ts';
import { TOKEN_2022 } from './solana/tokens.ts';
import { tokenAddress, transfer } from './solana-client.ts';
import {
  balance,
  client,
  node,
  pay,
  payer,
  produce,
  refusal,
  SOL,
  stranger,
  usdt,
  useSolana,
} from './solana-stage.ts';

const MEMO_PROGRAM = address('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');

useSolana();

describe('tokens', () => {
  test('a transfer makes the account and is seen at each commitment in its turn', async () => {
    const owner = await stranger();
    const sent = await pay(owner, 1_500_000n);
    expect(await balance(owner)).toBe(1_500_000n);
    expect(await balance(owner, 'confirmed')).toBeUndefined();
    produce(1);
    expect(await balance(owner, 'confirmed')).toBe(1_500_000n);
    expect(await balance(owner, 'finalized')).toBeUndefined();
    const status = () => client.rpc.getSignatureStatuses([sent]).send();
    expect((await status()).value[0]).toMatchObject({
      confirmationStatus: 'confirmed',
      confirmations: 1n,
      err: null,
      status: { Ok: null },
    });
    produce(31);
    expect(await balance(owner, 'finalized')).toBe(1_500_000n);
    expect((await status()).value[0]).toMatchObject({ confirmationStatus: 'finalized', confirmations: null });
  });

  test('a transaction shows the tokens before and after, its memo and its fee', async () => {
    const owner = await stranger();
    const reference = await stranger();
    const [create, move] = await transfer(payer, usdt, owner, 250_000n);
    const signed = await client.sign(payer, [
      getSetComputeUnitLimitInstruction({ units: 100_000 }),
      getSetComputeUnitPriceInstruction({ microLamports: 2_000_000n }),
      getAddMemoInstruction({ memo: 'order 12', signers: [payer] }, { programAddress: MEMO_PROGRAM }),
      ...(create === undefined ? [] : [create]),
      {
        ...move,
        programAddress: TOKEN_PROGRAM_ADDRESS,
        accounts: [...(move?.accounts ?? []), { address: reference, role: AccountRole.READONLY }],
      },
    ]);
    await client.send(signed);
    produce(1);
    const found = await client.rpc
      .getTransaction(signed.signature, {
        commitment: 'confirmed',
        encoding: 'json',
        maxSupportedTransactionVersion: 0,
      })
      .send();
    const keys = found?.transaction.message.accountKeys ?? [];
    const at = keys.indexOf(await tokenAddress(owner, usdt));
    const of = (list: readonly { accountIndex: number }[] = []) =>
      list.find((one) => one.accountIndex === at);
    expect(of(found?.meta?.preTokenBalances)).toBeUndefined();
    expect(of(found?.meta?.postTokenBalances)).toMatchObject({
      mint: usdt,
      owner,
      programId: TOKEN_PROGRAM_ADDRESS,
      uiTokenAmount: { amount: '250000', decimals: 6, uiAmount: 0.25, uiAmountString: '0.25' },
    });
    expect(found?.meta?.innerInstructions?.length).toBe(1);
    // 5,000 for the signature and 0.2 lamports for each unit of the limit.
    expect(found?.meta?.fee).toBe(5_000n + 200_000n);
    const rent = await client.rpc.getMinimumBalanceForRentExemption(165n).send();
    expect((found?.meta?.preBalances[0] ?? 0n) - (found?.meta?.postBalances[0] ?? 0n)).toBe(205_000n + rent);
    expect(found?.version).toBe(0);
    const listed = await client.rpc.getSignaturesForAddress(reference, { commitment: 'confirmed' }).send();
    expect(listed).toMatchObject([
      { signature: signed.signature, memo: '[8] order 12', err: null, confirmationStatus: 'confirmed' },
    ]);
  });

  test('getTokenAccountsByOwner shows both programs apart', async () => {
    const copy = await node.controls.createToken('USDT of somebody else', TOKEN_2022);
    await node.controls.mint(copy, payer.address, 5n);
    const by = async (filter: { mint: Address } | { programId: Address }) =>
      (
        await client.rpc
          .getTokenAccountsByOwner(payer.address, filter, { encoding: 'base64', commitment: 'processed' })
          .send()
      ).value.map(({ account }) => account.owner);
    expect(await by({ mint: usdt })).toEqual([TOKEN_PROGRAM_ADDRESS]);
    expect(await by({ programId: TOKEN_2022 })).toEqual([TOKEN_2022]);
    expect(await by({ programId: TOKEN_PROGRAM_ADDRESS })).toEqual([TOKEN_PROGRAM_ADDRESS]);
    const { value } = await client.rpc
      .getTokenAccountBalance(await tokenAddress(payer.address, usdt), { commitment: 'processed' })
      .send();
    expect(value).toEqual({ amount: '1000000000', decimals: 6, uiAmount: 1_000, uiAmountString: '1000' });
  });

  test('a frozen account fails the transaction, which is in a block and costs its fee', async () => {
    const owner = await stranger();
    await pay(owner, 1n);
    await node.controls.freeze(usdt, owner);
    const signed = await client.sign(payer, await transfer(payer, usdt, owner, 1n));
    const before = await client.rpc.getBalance(payer.address, { commitment: 'processed' }).send();
    await client.rpc.sendTransaction(signed.wire, { encoding: 'base64', skipPreflight: true }).send();
    const { value } = await client.rpc.getSignatureStatuses([signed.signature]).send();
    expect(value[0]?.err).toEqual({ InstructionError: [1n, { Custom: 17n }] });
    const after = await client.rpc.getBalance(payer.address, { commitment: 'processed' }).send();
    expect(before.value - after.value).toBe(5_000n);
    await node.controls.thaw(usdt, owner);
    await pay(owner, 2n);
    expect(await balance(owner)).toBe(3n);
  });

  test('a token account has one delegate, and an empty one is closed for its rent', async () => {
    const delegate = await generateKeyPairSigner();
    const source = await tokenAddress(payer.address, usdt);
    node.controls.fund(delegate.address, SOL);
    await client.send(
      await client.sign(payer, [
        getApproveCheckedInstruction({
          source,
          mint: usdt,
          delegate: delegate.address,
          owner: payer,
          amount: 5n,
          decimals: 6,
        }),
      ]),
    );
    const destination = await tokenAddress(delegate.address, usdt);
    const [create] = await transfer(delegate, usdt, delegate.address, 0n);
    const pull = getTransferCheckedInstruction({
      source,
      mint: usdt,
      destination,
      authority: delegate,
      amount: 4n,
      decimals: 6,
    });
    const made = create === undefined ? [] : [create];
    await client.send(await client.sign(delegate, [...made, pull]));
    expect(await balance(delegate.address)).toBe(4n);
    const over = await client.sign(delegate, [pull]);
    expect((await refusal(client.send(over))).cause).toContain('#1 (instruction #1)');
    const back = await tokenAddress(payer.address, usdt);
    await client.send(
      await client.sign(delegate, [
        getTransferCheckedInstruction({
          source: destination,
          mint: usdt,
          destination: back,
          authority: delegate,
          amount: 4n,
          decimals: 6,
        }),
        getCloseAccountInstruction({ account: destination, destination: delegate.address, owner: delegate }),
      ]),
    );
    expect(await balance(delegate.address)).toBeUndefined();
  });
});

describe('lifetimes', () => {
  test('a blockhash may be used for 150 blocks and in none later', async () => {
    const [owner, late] = [await stranger(), await stranger()];
    const first = await client.sign(payer, await transfer(payer, usdt, owner, 1n));
    const second = await client.sign(payer, await transfer(payer, usdt, late, 2n));
    produce(149);
    await client.send(first);
    expect(await client.rpc.getBlockHeight({ commitment: 'processed' }).send()).toBe(
      first.lifetime.lastValidBlockHeight,
    );
    expect(await balance(owner)).toBe(1n);
    const { value: valid } = await client.rpc
      .isBlockhashValid(second.lifetime.blockhash, { commitment: 'processed' })
      .send();
    expect(valid).toBe(true);
    // The next block would be one too many: the node takes it, and no block does.
    await client.send(second);
    expect((await client.rpc.getSignatureStatuses([second.signature]).send()).value).toEqual([null]);
    expect(
      (await client.rpc.isBlockhashValid(second.lifetime.blockhash, { commitment: 'processed' }).send())
        .value,
    ).toBe(false);
    expect((await refusal(client.send(second))).cause).toContain('Blockhash not found');
    expect((await client.rpc.isBlockhashValid(second.lifetime.blockhash).send()).value).toBe(true);
  });

  test('the same bytes again are refused by preflight and change nothing without it', async () => {
    const owner = await stranger();
    const signed = await client.sign(payer, await transfer(payer, usdt, owner, 7n));
    await client.send(signed);
    const again = await refusal(client.send(signed));
    expect(again.code).toBe(SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE);
    expect(again.cause).toContain('already been processed');
    const unchecked = client.rpc.sendTransaction(signed.wire, { encoding: 'base64', skipPreflight: true });
    expect(await unchecked.send()).toBe(signed.signature);
    expect(await balance(owner)).toBe(7n);
  });

  test('preflight at finalized does not know a newer blockhash', async () => {
    produce(40);
    const signed = await client.sign(payer, await transfer(payer, usdt, await stranger(), 7n));
    const sent = client.rpc.sendTransaction(signed.wire, { encoding: 'base64' }).send();
    expect((await refusal(sent)).cause).toContain('Blockhash not found');
  });

  test('statuses older than 150 blocks need the search in the history', async () => {
    const sent = await pay(await stranger(), 1n);
    produce(151);
    expect((await client.rpc.getSignatureStatuses([sent]).send()).value).toEqual([null]);
    const { value } = await client.rpc
      .getSignatureStatuses([sent], { searchTransactionHistory: true })
      .send();
    expect(value[0]).toMatchObject({ confirmationStatus: 'finalized', err: null });
  });
});

describe('histories', () => {
  test('signatures of an account by before, until and limit', async () => {
    const owner = await stranger();
    const sent: Signature[] = [];
    for (let amount = 1n; amount <= 5n; amount += 1n) sent.unshift(await pay(owner, amount));
    produce(32);
    const account = await tokenAddress(owner, usdt);
    const list = async (config: { before?: Signature; until?: Signature; limit?: number }) =>
      (await client.rpc.getSignaturesForAddress(account, config).send()).map((one) => one.signature);
    expect(await list({})).toEqual(sent);
    expect(await list({ limit: 2 })).toEqual(sent.slice(0, 2));
    const [newest, second, , fourth] = sent;
    if (newest === undefined || second === undefined || fourth === undefined)
      throw new Error('five were sent');
    expect(await list({ before: second, until: fourth })).toEqual([sent[2]]);
    expect(await list({ until: newest })).toEqual([]);
    expect(await list({ before: signature('1'.repeat(64)) })).toEqual([]);
  });

  test('blocks show their transactions, and a slot without a block says so', async () => {
    const sent = await pay(await stranger(), 1n);
    const { slot, height, hash } = node.chain.tip;
    node.chain.skip(2);
    produce(33);
    const block = await client.rpc
      .getBlock(BigInt(slot), {
        maxSupportedTransactionVersion: 0,
        transactionDetails: 'signatures',
        rewards: false,
      })
      .send();
    expect(block).toMatchObject({
      signatures: [sent],
      blockhash: hash,
      blockHeight: BigInt(height),
      parentSlot: BigInt(slot - 1),
      blockTime: BigInt(node.chain.blockAt(height).time),
    });
    const full = await client.raw('getBlock', [slot, { maxSupportedTransactionVersion: 0 }]);
    expect(full.result).toMatchObject({
      transactions: [{ meta: { err: null }, transaction: { signatures: [sent] }, version: 0 }],
    });
    expect((await client.raw('getBlock', [slot + 1])).error).toMatchObject({ code: -32_007 });
    expect((await client.raw('getBlock', [slot + 500])).error).toMatchObject({ code: -32_004 });
    expect((await client.raw('getBlock', [slot])).error).toMatchObject({ code: -32_015 });
    expect(
      await client.rpc.getBlocks(BigInt(slot), BigInt(slot + 4), { commitment: 'confirmed' }).send(),
    ).toEqual([slot, slot + 3, slot + 4].map(BigInt));
    expect(await client.rpc.getBlocksWithLimit(BigInt(slot), 2).send()).toEqual(
      [BigInt(slot), BigInt(slot + 3)].slice(0, 2),
    );
    node.chain.firstAvailable = slot + 3;
    expect((await client.raw('getBlock', [slot])).error).toMatchObject({ code: -32_001 });
    expect(
      (await client.raw('getTransaction', [sent, { maxSupportedTransactionVersion: 0 }])).result,
    ).toBeNull();
    expect(await client.rpc.getFirstAvailableBlock().send()).toBe(BigInt(slot + 3));
  });

  test('times of blocks follow the clock and never go back', async () => {
    const before = await client.rpc.getBlockTime(BigInt(node.chain.produce().slot - 1)).send();
    node.chain.moveClock(3_600_000);
    const later = node.chain.produce();
    node.chain.moveClock(-7_200_000);
    const after = node.chain.produce();
    expect(BigInt(later.time) - before).toBeGreaterThanOrEqual(3_600n);
    expect(after.time).toBe(later.time);
    const clock = node.chain.vm.getClock();
    expect([clock.slot, clock.unixTimestamp]).toEqual([BigInt(after.slot), BigInt(after.time)]);
  });
});

test('fees, rent, blocks by themselves, and versions', async () => {
  node.chain.priorityFee = 1_234;
  produce(200);
  const fees = await client.rpc.getRecentPrioritizationFees([usdt]).send();
  expect(fees).toHaveLength(150);
  expect(fees.at(-1)).toEqual({ slot: BigInt(node.chain.tip.slot), prioritizationFee: 1_234n });
  expect(await client.rpc.getMinimumBalanceForRentExemption(165n).send()).toBe(2_039_280n);
  expect(await client.rpc.getVersion().send()).toMatchObject({ 'solana-core': expect.any(String) });
  expect(await client.rpc.getEpochInfo({ commitment: 'processed' }).send()).toMatchObject({
    blockHeight: BigInt(node.chain.tip.height),
  });
  const legacy = await client.sign(payer, await transfer(payer, usdt, await stranger(), 1n), 'legacy');
  await client.send(legacy);
  produce(32);
  const found = await client.rpc.getTransaction(legacy.signature, { encoding: 'json' }).send();
  expect(found?.transaction.message.instructions).toHaveLength(2);
  const running = await startSolanaNode({ blocks: 5 });
  try {
    const height = () => running.chain.tip.height;
    await expect.poll(height, { timeout: 20_000 }).toBeGreaterThanOrEqual(3);
  } finally {
    await running.stop();
  }
});
