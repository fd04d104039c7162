import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { readApproverKey, SPKI_HEAD } from './approver-key.ts';
import { type Hex, toHex } from './bytes.ts';
import { readPrivateFile } from './files.ts';
import { writeNew } from './key-file.ts';
import { SignerMistake } from './mistake.ts';
import { type Statement, statementText } from './statement.ts';

/** Makes an Ed25519 key in a new file with mode 0600. @returns the public key for the policy */
export function writeApproverKey(file: string, passphrase?: string): Hex {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const sealed = passphrase === undefined ? {} : { cipher: 'aes-256-cbc', passphrase };
  writeNew(file, privateKey.export({ format: 'pem', type: 'pkcs8', ...sealed }).toString());
  return publicBytes(publicKey);
}

/** @throws SignerMistake */
export function openApproverKey(file: string, passphrase?: string): KeyObject {
  const key = readPrivateFile(file, 'the approver key');
  let opened: KeyObject;
  try {
    opened = createPrivateKey({ key, ...(passphrase !== undefined && { passphrase }) });
  } catch {
    const secret = passphrase === undefined ? 'its passphrase is missing' : 'the passphrase is wrong';
    throw new SignerMistake(
      'approver_key',
      `the approver key ${file} does not open: ${secret}, or it is no key file.`,
    );
  }
  if (opened.asymmetricKeyType !== 'ed25519')
    throw new SignerMistake('approver_key', `the approver key ${file} is not of Ed25519.`);
  return opened;
}

const publicBytes = (key: KeyObject): Hex =>
  toHex(key.export({ format: 'der', type: 'spki' }).subarray(SPKI_HEAD.length));

/** The public key, as the policy names it. */
export const approverPublicKey = (key: KeyObject): Hex => publicBytes(createPublicKey(key));

/** @returns `SignedApproval.signature` */
export function signStatement(statement: Statement, key: KeyObject): Hex {
  return toHex(sign(null, Buffer.from(statementText(statement)), key));
}

/**
 * The key that others know an approver by, from its text or from a file: one with that text, with a public key, or with a
 * key of Ed25519 that has no passphrase.
 *
 * @throws SignerMistake
 */
export function approverKeyOf(keyOrFile: string): NonNullable<ReturnType<typeof readApproverKey>> {
  const key = readApproverKey(keyOrFile) ?? (existsSync(keyOrFile) ? keyInFile(keyOrFile) : undefined);
  if (key !== undefined) return key;
  throw new SignerMistake(
    'approver_key',
    `${keyOrFile} is neither an approver's key (0x and 64 hex digits, or an Ethereum address) nor a file with one: ` +
      'give what florin approvers new-key showed.',
  );
}

function keyInFile(file: string): ReturnType<typeof readApproverKey> {
  try {
    const text = readFileSync(file, 'utf8').trim();
    const known = readApproverKey(text);
    if (known !== undefined) return known;
    const key = createPublicKey(text);
    return key.asymmetricKeyType === 'ed25519' ? readApproverKey(publicBytes(key)) : undefined;
  } catch {
    return undefined;
  }
}
