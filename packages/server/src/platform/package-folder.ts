import { findPackageJSON } from 'node:module';
import { pathToFileURL } from 'node:url';

const manifest = findPackageJSON('.', import.meta.url);
if (manifest === undefined) throw new Error('the files of this package are not where it is');

/** The folder with the files that come with the code: in the repository, and in the package that is published. */
export const PACKAGE_FOLDER = new URL('.', pathToFileURL(manifest));
