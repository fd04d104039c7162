import { readFileSync } from 'node:fs';
import { cpus, platform, release, totalmem } from 'node:os';

/** What a reader needs to judge the numbers; nothing that names the machine. */
export interface Machine {
  cores: number;
  processor: string;
  memoryGiB: number;
  system: string;
  node: string;
}

export function describeMachine(): Machine {
  return {
    cores: cpus().length,
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${platform()} ${release().split('.').slice(0, 2).join('.')}`,
    node: process.versions.node,
  };
}

/** The version that a package of some node_modules folder has; undefined where it is not installed. */
export function packageVersion(folder: URL, name: string): string | undefined {
  try {
    const manifest: { version: string } = JSON.parse(
      readFileSync(new URL(`node_modules/${name}/package.json`, folder), 'utf8'),
    );
    return manifest.version;
  } catch {
    return undefined;
  }
}
