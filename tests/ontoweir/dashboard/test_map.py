"""Where answers are: columns and texts that say it, and what is drawn."""

import re

import pyarrow as pa
import pytest

from ontoweir.draw.draw_map import Place, draw_map, find_places, is_coordinate


@pytest.mark.parametrize(
    "names",
    [
        ("lat", "long"),
        ("Latitude", "Lon"),
        ("POINT_1_LAT", "POINT_1_LNG"),
        ("startLatitude", "startLongitude"),
    ],
)
def test_columns_that_say_where(names: tuple[str, str]) -> None:
    up, along = names
    rows = pa.table({up: [56.1, None, 91.0], along: [10.2, 1.0, 2.0], "it": ["a", "b", "c"]})
    assert find_places(rows) == [Place(10.2, 56.1, "it a")]


def test_points_of_wkt() -> None:
    texts = [
        "POINT(10.2 56.1)",
        "<http://www.opengis.net/def/crs/OGC/1.3/CRS84> Point (1 -2)",
        None,
    ]
    rows = pa.table({"n": [1, 2, 3], "where": texts})
    assert [(p.longitude, p.latitude) for p in find_places(rows)] == [(10.2, 56.1), (1.0, -2.0)]


@pytest.mark.parametrize(
    "columns",
    [
        {"lat": ["56.1"], "lon": ["10.2"]},  # texts
        {"lat": [56.1], "n": [1]},
        {"plateau": [1.0], "longing": [2.0]},
        {"where": ["POINT(10.2 56.1)", "nowhere"]},
        {"where": [None]},
    ],
)
def test_what_says_nothing_of_places(columns: dict[str, list[object]]) -> None:
    assert find_places(pa.table(columns)) == []


def test_coordinates_are_no_values() -> None:
    names = ("lat", "avgSpeed", "start_lon", "plate")
    assert [name for name in names if is_coordinate(name)] == ["lat", "start_lon"]


@pytest.mark.parametrize("spread", [0.0, 1e-6, 0.01, 3.0, 350.0])
def test_points_lie_within_the_map_and_north_is_up(spread: float) -> None:
    low, high = -min(spread, 170.0) / 2, min(spread, 170.0) / 2
    drawn = draw_map([Place(low, low, "<a>"), Place(high, high, "b")], "q&a")
    points = [(float(x), float(y)) for x, y in re.findall(r'cx="(.*?)" cy="(.*?)"', drawn)]
    assert all(0 <= x <= 640 and 0 <= y <= 420 for x, y in points)
    (x, y), (east, north) = points
    assert x <= east
    assert y >= north
    assert "q&amp;a" in drawn
    assert "&lt;a&gt;" in drawn
    assert 2 <= drawn.count("<line") <= 40
