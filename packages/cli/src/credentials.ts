import { readFileSync } from 'node:fs';
import path from 'node:path';
import { CommandFailure, reasonOf } from './failure.ts';

export interface Credentials {
  baseUrl: string;
  apiKey: string;
  secretKey: string;
}

const VARIABLES = ['FLORIN_BASE_URL', 'FLORIN_API_KEY', 'FLORIN_SECRET_KEY'] as const;
const DATA_FOLDER = './.florin';

const refuse = (message: string) => new CommandFailure('credentials', message);

/** The data folder of the sandbox and of merchants' commands. */
export function dataFolder(
  env: Readonly<Record<string, string | undefined>>,
  dataDir: string | undefined,
): string {
  return dataDir ?? (env.FLORIN_DATA_DIR || DATA_FOLDER);
}

/**
 * The signing key: from the named folder, else the environment, else the sandbox's data folder.
 *
 * @throws CommandFailure with advice
 */
export function findCredentials(
  env: Readonly<Record<string, string | undefined>>,
  dataDir: string | undefined,
): Credentials {
  const given = dataDir === undefined && VARIABLES.some((name) => env[name]);
  return check(given ? fromEnvironment(env) : fromFolder(dataFolder(env, dataDir)));
}

function fromEnvironment(env: Readonly<Record<string, string | undefined>>): Credentials {
  const missing = VARIABLES.filter((name) => !env[name]);
  if (missing.length > 0) throw refuse(`${VARIABLES.join(', ')} go together: set ${missing.join(' and ')}.`);
  const [baseUrl = '', apiKey = '', secretKey = ''] = VARIABLES.map((name) => env[name]);
  return { baseUrl, apiKey, secretKey };
}

function fromFolder(folder: string): Credentials {
  const file = path.resolve(folder, 'sandbox.json');
  const { base_url, api_key, secret_key } = readJson(file);
  if (![base_url, api_key, secret_key].every((field) => typeof field === 'string')) {
    throw refuse(`${file} holds no credentials.`);
  }
  return { baseUrl: String(base_url), apiKey: String(api_key), secretKey: String(secret_key) };
}

function readJson(file: string): Partial<Record<string, unknown>> {
  try {
    return Object(JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    const isAbsent = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    throw refuse(
      isAbsent
        ? `There is no ${file}: start the sandbox first (florin start), name its folder with --data-dir, or set ${VARIABLES.join(', ')}.`
        : `${file} cannot be read: ${reasonOf(error)}`,
    );
  }
}

function check(credentials: Credentials): Credentials {
  const { baseUrl, apiKey, secretKey } = credentials;
  if (!URL.canParse(baseUrl) || !/^https?:/.test(baseUrl)) {
    throw refuse('The base address must begin with https:// (or http:// on this machine).');
  }
  if (!/^[\x21-\x7e]+$/.test(apiKey)) throw refuse('The API key has invalid characters.');
  if (secretKey === '') throw refuse('The secret key is empty.');
  return { ...credentials, baseUrl: baseUrl.replace(/(?<!\/)\/+$/, '') };
}
