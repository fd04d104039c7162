import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './built-site.ts';
import { urlOf } from './navigation.ts';

/** A page of the site. */
export interface Document {
  name: string;
  /** The file of the repository that it is made of: what its links start from, and what links to it name. */
  source: string;
  /** Markdown. */
  text: string;
}

const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');
const filesOf = (pattern: string) => globSync(pattern, { cwd: ROOT }).toSorted();

const written = (source: string): Document => ({
  name: source.replace(/^docs\/(.*)\.md$/, '$1'),
  source,
  text: read(source),
});

export const titleOf = (markdown: string) => /^# (.+)$/m.exec(markdown)?.[1]?.replaceAll('`', '');

const LANGUAGES: Readonly<Record<string, string>> = { '.ts': 'ts', '.json': 'json' };

/** A page that shows one file, for links from the docs. */
function codePage(file: string, name: string): Document {
  const language = LANGUAGES[path.extname(file)] ?? '';
  return {
    name,
    source: file,
    text: `# \`${file}\`\n\n\`\`\`${language}\n${read(file).trimEnd()}\n\`\`\`\n`,
  };
}

const listOf = (documents: readonly Document[]) =>
  documents.map(({ name, text }) => `- [${titleOf(text)}](${urlOf(name)})`).join('\n');

const DECISIONS = 'docs/decisions/README.md';

/** All pages but those that are made of the contract. */
export function documents(): Document[] {
  const pages = filesOf('docs/{,recipes/}*.md').map(written);
  const decisions = filesOf('docs/decisions/[0-9]*.md').map(written);
  const examples = filesOf('examples/**/*.ts')
    .filter((file) => !file.includes('node_modules'))
    .map((file) => codePage(file, file.replace(/\.ts$/, '')));
  return [
    ...pages,
    ...decisions,
    ...examples,
    codePage('docs/networks.mainnet.json', 'live/networks.mainnet.json'),
    { name: 'contracts', source: 'contracts/README.md', text: read('contracts/README.md') },
    { name: 'changelog', source: 'CHANGELOG.md', text: read('CHANGELOG.md') },
    { name: 'decisions', source: DECISIONS, text: `${read(DECISIONS)}\n${listOf(decisions)}\n` },
    { name: 'examples', source: 'examples', text: `# Examples\n\n${listOf(examples)}\n` },
  ];
}

/** Addresses on the site by file of the repository. */
export const addressesOf = (all: readonly Document[]): ReadonlyMap<string, string> =>
  new Map(all.map(({ source, name }) => [source, urlOf(name)]));
