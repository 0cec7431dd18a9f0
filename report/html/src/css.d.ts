/* Style sheets are imported for the bundler. */
declare module "*.css";
