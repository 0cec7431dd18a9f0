/* A column of the page's tables. */
export interface Column {
	key: string;
	title: string;
	hint: string;
	width: number; /* px; 0: what is left */
	numeric: boolean;
	sortable: boolean;
}
