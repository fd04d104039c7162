import {
  type EncodedAccount,
  getBase58Decoder,
  getBase64Decoder,
  type MaybeEncodedAccount,
} from '@solana/kit';
import { invalidParams, RpcError, type TransactionError } from './errors.ts';
import type { Executed } from './execute.ts';
import type { Config } from './params.ts';

const MOST_BASE58 = 128;
const NEVER = 18_446_744_073_709_551_615n;

export function presentAccount(account: MaybeEncodedAccount, config: Config) {
  if (!account.exists) return null;
  return {
    data: presentData(sliced(account, config), config),
    executable: account.executable,
    lamports: account.lamports,
    owner: account.programAddress,
    rentEpoch: NEVER,
    space: account.data.length,
  };
}

function sliced({ data }: EncodedAccount, { dataSlice }: Config): Uint8Array {
  if (typeof dataSlice !== 'object' || dataSlice === null) return Uint8Array.from(data);
  const offset = 'offset' in dataSlice ? Number(dataSlice.offset) : 0;
  const length = 'length' in dataSlice ? Number(dataSlice.length) : data.length;
  return Uint8Array.from(data).slice(offset, offset + length);
}

/** Without an encoding agave answers in the old form, base58 as a text alone. */
function presentData(data: Uint8Array, { encoding }: Config) {
  if (encoding === 'base64') return [getBase64Decoder().decode(data), 'base64'];
  if (encoding !== undefined && encoding !== 'base58') throw unknownEncoding(encoding);
  if (data.length > MOST_BASE58)
    throw invalidParams(
      `Encoded binary (base 58) data should be less than ${MOST_BASE58} bytes, please use Base64 encoding.`,
    );
  const text = getBase58Decoder().decode(data);
  return encoding === 'base58' ? [text, 'base58'] : text;
}

function unknownEncoding(encoding: unknown): RpcError {
  return invalidParams(
    `Invalid params: unknown variant \`${String(encoding)}\`: this node does not know it.`,
  );
}

export function presentStatus(err: TransactionError | null) {
  return err === null ? { Ok: null } : { Err: err };
}

/** @throws RpcError where its version is newer than the caller reads */
export function presentTransaction(executed: Executed, config: Config) {
  const { version } = executed.wire.message;
  const { maxSupportedTransactionVersion: most } = config;
  if (version !== 'legacy' && most === undefined)
    throw new RpcError(
      -32_015,
      `Transaction version (${version}) is not supported by the requesting client. Please try the request again ` +
        `with the following configuration parameter: "maxSupportedTransactionVersion": ${version}`,
    );
  return {
    ...(most !== undefined && { version }),
    transaction: presentWire(executed, config),
    meta: presentMeta(executed),
  };
}

function presentWire({ wire }: Executed, { encoding = 'json' }: Config) {
  if (encoding === 'base64') return [getBase64Decoder().decode(wire.bytes), 'base64'];
  if (encoding === 'base58') return [getBase58Decoder().decode(wire.bytes), 'base58'];
  if (encoding !== 'json') throw unknownEncoding(encoding);
  const { header, instructions, lifetimeToken, version } = wire.message;
  return {
    signatures: Object.values(wire.transaction.signatures).map((one) =>
      getBase58Decoder().decode(one ?? new Uint8Array(64)),
    ),
    message: {
      header: {
        numRequiredSignatures: header.numSignerAccounts,
        numReadonlySignedAccounts: header.numReadonlySignerAccounts,
        numReadonlyUnsignedAccounts: header.numReadonlyNonSignerAccounts,
      },
      accountKeys: wire.keys,
      recentBlockhash: lifetimeToken,
      instructions: instructions.map(({ programAddressIndex, accountIndices = [], data }) => ({
        programIdIndex: programAddressIndex,
        accounts: [...accountIndices],
        data: getBase58Decoder().decode(data ?? new Uint8Array()),
        stackHeight: 1,
      })),
      ...(version !== 'legacy' && { addressTableLookups: [] }),
    },
  };
}

function presentMeta(executed: Executed) {
  const { err, fee, preBalances, postBalances, preTokenBalances, postTokenBalances } = executed;
  return {
    err,
    status: presentStatus(err),
    fee,
    preBalances,
    postBalances,
    preTokenBalances,
    postTokenBalances,
    innerInstructions: executed.innerInstructions,
    logMessages: executed.logs,
    loadedAddresses: { readonly: [], writable: [] },
    ...(executed.returnData !== null && { returnData: executed.returnData }),
    computeUnitsConsumed: executed.unitsConsumed,
    rewards: [],
  };
}
