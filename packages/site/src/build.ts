import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { targetOf, writeBuild } from '@florin/pages/builds';
import { outputOf } from '@florin/pages/vite-output';
import { build } from 'vite';
import { MANIFEST, ROOT, type SiteFile, SOURCES } from './built-site.ts';
import { brokenLinks } from './links.ts';
import { BASE, menuFaults } from './navigation.ts';
import { renderPages, siteDocuments } from './pages.ts';
import { searchIndex } from './search-index.ts';

const USAGE = `node packages/site/src/build.ts [folder]
  Builds the documentation site into the folder, else where the service looks for it.`;
const target = targetOf(SOURCES, USAGE);

// Whatever the caller runs as: what browsers load is made for use.
process.env.NODE_ENV = 'production';
// The generator takes the folder of its process for that of the project.
process.chdir(ROOT);

const shortHash = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16);

async function scriptOf(entry: string): Promise<string> {
  const built = await build({
    root: ROOT,
    configFile: false,
    envFile: false,
    logLevel: 'error',
    publicDir: false,
    build: {
      write: false,
      target: 'baseline-widely-available',
      modulePreload: false,
      rolldownOptions: { input: path.join(import.meta.dirname, 'client', entry) },
    },
  });
  const [script, ...others] = outputOf(built);
  if (others.length > 0) throw new Error(`${entry} is more than one file`);
  return script.code;
}

const styleOf = () =>
  ['packages/pages/src/design/tokens.css', 'packages/site/src/design/site.css']
    .map((file) => readFileSync(path.join(ROOT, file), 'utf8'))
    .join('');

const TYPES = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  html: 'text/html; charset=utf-8',
  json: 'application/json; charset=utf-8',
};

const files = new Map<string, { text: string; type: string; isImmutable: boolean }>();

/** @returns the address of a file that is named by its content */
function addAsset(name: string, extension: 'css' | 'js', text: string): string {
  const url = `${BASE}/assets/${name}-${shortHash(text)}.${extension}`;
  files.set(url, { text, type: TYPES[extension], isImmutable: true });
  return url;
}

function refuse(faults: readonly string[]): void {
  if (faults.length > 0) throw new Error(`the documentation has faults:\n${faults.join('\n')}`);
}

const pages = await renderPages({
  style: addAsset('site', 'css', styleOf()),
  theme: addAsset('theme', 'js', await scriptOf('theme.ts')),
  script: addAsset('site', 'js', await scriptOf('site.ts')),
});
refuse(menuFaults(siteDocuments().map(({ name }) => name)));
refuse(brokenLinks(pages, new Set(files.keys())));
for (const [url, text] of pages) files.set(url, { text, type: TYPES.html, isImmutable: false });
const setup = { text: await scriptOf('reference.ts'), type: TYPES.js, isImmutable: false };
files.set(`${BASE}/setup.js`, setup);
files.set(`${BASE}/search.json`, { text: searchIndex(pages), type: TYPES.json, isImmutable: false });

writeBuild(target, (folder) => {
  const manifest: Record<string, SiteFile> = {};
  for (const [url, { text, type, isImmutable }] of files) {
    const file = `${url.slice(1).replaceAll('/', '~')}.gz`;
    manifest[url] = { file, type, version: shortHash(text), isImmutable };
    writeFileSync(path.join(folder, file), gzipSync(text, { level: 9 }));
  }
  writeFileSync(path.join(folder, MANIFEST), JSON.stringify(manifest));
});
