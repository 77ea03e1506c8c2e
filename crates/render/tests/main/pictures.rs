//! Pictures, pixel by pixel.

use render::{BACKGROUND, COLORS, CURSOR, FOREGROUND, Image, Rgb, Scale, Symbols, png, rgb};
use std::collections::BTreeSet;
use wire::{COLUMNS, Cursor, ROWS, Screen};

use crate::generated::{Dice, next};

const SCALES: [(Scale, usize); 2] = [(Scale::One, 8), (Scale::Two, 16)];

/// The pixels of a cell, row by row.
fn cell(image: &Image, row: usize, column: usize) -> Vec<Vec<Rgb>> {
    let (width, height) = (image.width / COLUMNS, image.height / ROWS);
    let rows = image.bytes.chunks_exact(image.width * 3).skip(row * height).take(height);
    let pixels = |row: &[u8]| row.as_chunks().0.iter().skip(column * width).take(width).copied().collect();
    rows.map(pixels).collect()
}

fn inks(cell: &[Vec<Rgb>]) -> BTreeSet<Rgb> {
    cell.iter().flatten().copied().collect()
}

fn count(cell: &[Vec<Rgb>], ink: Rgb) -> usize {
    cell.iter().flatten().filter(|pixel| **pixel == ink).count()
}

#[test]
fn a_png_holds_the_same_pixels() {
    for seed in 0..6 {
        let mut dice = Dice::new(seed);
        let mut screen = Screen::default();
        for _ in 0..4 {
            next(&mut dice, &mut screen);
        }
        for (scale, cell_width) in SCALES {
            let image = rgb(&screen, Symbols::Plain, scale);
            assert_eq!((image.width, image.height), (cell_width * 80, cell_width * 2 * 24));
            assert_eq!(image.bytes.len(), image.width * image.height * 3);
            let file = png(&screen, Symbols::Plain, scale).expect("a picture");
            let mut decoder = ::png::Decoder::new(std::io::Cursor::new(&file));
            decoder.set_transformations(::png::Transformations::EXPAND);
            let mut reader = decoder.read_info().expect("a header");
            let mut bytes = vec![0; reader.output_buffer_size().expect("a size")];
            let info = reader.next_frame(&mut bytes).expect("pixels");
            assert_eq!((info.width as usize, info.height as usize), (image.width, image.height));
            assert_eq!(info.color_type, ::png::ColorType::Rgb);
            assert!(bytes == image.bytes, "seed {seed}, {scale:?}: pixels differ");
        }
    }
}

#[test]
fn colours_and_attributes_are_drawn() {
    let mut screen = Screen { cursor: Cursor { row: 2, column: 3 }, ..Screen::default() };
    screen.chars[..12].fill(b'@');
    screen.colors[..12].copy_from_slice(&[0, 1, 4, 8, 15, 11, 2, 2, 2, 2, 2, 200]);
    screen.attributes[..12].copy_from_slice(&[0, 0, 0, 0, 0, 0, 0b10, 0b100, 0b1_0000, 0b1000_0000, 1, 0]);
    for (scale, _) in SCALES {
        let image = rgb(&screen, Symbols::Plain, scale);
        let drawn = |column| cell(&image, 0, column);
        for (column, color) in [(0, 0), (1, 1), (2, 4), (4, 15), (5, 11)] {
            assert_eq!(inks(&drawn(column)), BTreeSet::from([BACKGROUND, COLORS[color]]), "{scale:?}, column {column}");
        }
        assert_eq!(inks(&drawn(3)), BTreeSet::from([BACKGROUND, FOREGROUND]));
        assert_eq!(drawn(11), drawn(3), "a colour that there is not is none");
        let green = |column| count(&drawn(column), COLORS[2]);
        let plain = count(&drawn(1), COLORS[1]);
        assert!(green(6) > plain, "bold has more ink");
        assert_eq!(green(7), 0, "dim is another colour");
        assert_eq!(inks(&drawn(7)).len(), 2);
        let full = |column| drawn(column).iter().filter(|row| row.iter().all(|pixel| *pixel == COLORS[2])).count();
        assert!(full(8) >= 1 && full(1) == 0, "underlined from side to side");
        let area = image.width / COLUMNS * (image.height / ROWS);
        assert_eq!((green(9), green(10)), (area - plain, area - plain), "inverse and standout swap");
        assert_eq!(inks(&cell(&image, 2, 3)), BTreeSet::from([CURSOR]));
        assert_eq!(inks(&cell(&image, 5, 5)), BTreeSet::from([BACKGROUND]));
    }
}

#[test]
fn a_cell_stays_in_its_place() {
    let blank = rgb(&Screen::default(), Symbols::Plain, Scale::One);
    for (row, column) in [(0, 1), (11, 40), (23, 79)] {
        let mut screen = Screen::default();
        screen.chars[row * COLUMNS + column] = b'M';
        screen.attributes[row * COLUMNS + column] = 0b1001_0010;
        let image = rgb(&screen, Symbols::Plain, Scale::One);
        let changed: Vec<_> = (0..ROWS * COLUMNS)
            .map(|at| (at / COLUMNS, at % COLUMNS))
            .filter(|(row, column)| cell(&image, *row, *column) != cell(&blank, *row, *column))
            .collect();
        assert_eq!(changed, [(row, column)]);
    }
}

#[test]
fn walls_of_a_symbol_set_join() {
    let mut screen = Screen { cursor: Cursor { row: 20, column: 0 }, ..Screen::default() };
    for row in 4..7 {
        screen.chars[row * COLUMNS + 10] = 0xb3;
    }
    for (scale, _) in SCALES {
        let image = rgb(&screen, Symbols::Ibm, scale);
        for row in 4..7 {
            assert!(cell(&image, row, 10).iter().all(|pixels| pixels.contains(&FOREGROUND)), "{scale:?}, row {row}");
        }
    }
}

#[test]
fn a_cursor_outside_is_drawn_at_the_edge() {
    for (row, column, at) in [(3, 200, (3, 79)), (200, 4, (23, 4)), (255, 255, (23, 79)), (23, 79, (23, 79))] {
        let screen = Screen { cursor: Cursor { row, column }, ..Screen::default() };
        let image = rgb(&screen, Symbols::Plain, Scale::One);
        let drawn: Vec<_> = (0..ROWS * COLUMNS)
            .map(|at| (at / COLUMNS, at % COLUMNS))
            .filter(|(row, column)| inks(&cell(&image, *row, *column)).contains(&CURSOR))
            .collect();
        assert_eq!(drawn, [at], "cursor at {row}, {column}");
    }
}
