export {
  type BrandChange,
  brandOf,
  changeBrand,
  findLogo,
  LOGO_PATH,
  previewBrand,
} from './brand.ts';
