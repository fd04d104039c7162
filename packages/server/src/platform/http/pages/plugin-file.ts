import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import { PACKAGE_FOLDER } from '../../package-folder.ts';

/** A file that a Fastify plugin serves. */
export interface PluginFile {
  /** Compressed: a megabyte instead of four. */
  gzip: Buffer;
  /** Short name of its content, for caches. */
  version: string;
}

interface Wanted {
  plugin: string;
  options: Record<string, unknown>;
  /** Where the plugin serves it. */
  path: string;
}

/** Tells our threads from others of this process. */
const THREAD_NAME = 'florin-plugin-file';

/**
 * Reads one file that a Fastify plugin serves, in a thread that ends afterwards: the plugin's memory (40 MB for the API
 * reference) does not stay in this process. The package that is published has the file itself.
 */
export async function readPluginFile(wanted: Wanted): Promise<PluginFile> {
  const published = new URL(`served/${path.posix.basename(wanted.path)}.gz`, PACKAGE_FOLDER);
  const gzip = existsSync(published) ? await readFile(published) : await serveInThread(wanted);
  return { gzip, version: createHash('sha256').update(gzip).digest('hex').slice(0, 16) };
}

async function serveInThread(wanted: Wanted): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
  const worker = new Worker(new URL(import.meta.url), {
    name: THREAD_NAME,
    workerData: { [THREAD_NAME]: wanted },
  });
  worker.once('message', resolve);
  worker.once('error', reject);
  worker.once('exit', () => reject(new Error(`${wanted.plugin} did not serve ${wanted.path}`)));
  return Buffer.from(await promise);
}

async function serveOnce({ plugin, options, path: file }: Wanted): Promise<Uint8Array> {
  const [{ default: Fastify }, { default: register }] = await Promise.all([
    import('fastify'),
    import(plugin),
  ]);
  const app = Fastify();
  await app.register(register, options);
  const answer = await app.inject(file);
  await app.close();
  if (answer.statusCode !== 200) throw new Error(`${plugin} answers ${answer.statusCode} at ${file}`);
  return gzipSync(answer.rawPayload);
}

if (!isMainThread && typeof workerData === 'object' && workerData?.[THREAD_NAME] !== undefined) {
  parentPort?.postMessage(await serveOnce(workerData[THREAD_NAME]));
}
