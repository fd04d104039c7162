export { type BrandChange, brandOf, changeBrand, findLogo, LOGO_PATH } from './brand.ts';
