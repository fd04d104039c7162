/** What is known before a release. */
export interface Candidate {
  /** Version by the name of each package of the repository. */
  versions: ReadonlyMap<string, string>;
  changelog: string;
  /** Changed or new files that are not committed. */
  uncommitted: readonly string[];
  /** Findings about the packages, one line each. */
  findings: readonly string[];
}

const VERSION = /^\d+\.\d+\.\d+(-[\w.]+)?$/;

/** Why these packages cannot be published yet, one line each, with what to do. */
export function findObstacles({ versions, changelog, uncommitted, findings }: Candidate): string[] {
  const [version = '', ...others] = new Set(versions.values());
  const obstacles = [...findings];
  if (others.length > 0) {
    const list = [...versions].map(([name, own]) => `${name} ${own}`).join(', ');
    obstacles.push(`the packages have different versions (${list}): give all of them one`);
  } else if (!VERSION.test(version)) {
    obstacles.push(`${version} is no version: write it as 1.2.3`);
  }
  const notes = notesOf(changelog, version);
  if (notes === undefined)
    obstacles.push(`CHANGELOG.md has no heading "## ${version}": move what is under "## Unreleased" there`);
  else if (notes.trim() === '') obstacles.push(`CHANGELOG.md says nothing under "## ${version}"`);
  if (uncommitted.length > 0)
    obstacles.push(`not everything is committed: ${uncommitted.slice(0, 5).join(', ')}`);
  return obstacles;
}

/** What the changelog says of a version; undefined without its heading, which may have a date behind it. */
export function notesOf(changelog: string, version: string): string | undefined {
  const sections = changelog.split(/^## /m).slice(1);
  const own = sections.find((section) => section.split(/\s/, 1)[0] === version);
  return own?.slice(own.indexOf('\n') + 1);
}
